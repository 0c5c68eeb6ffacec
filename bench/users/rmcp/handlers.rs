use rmcp::{
    ErrorData, Json, RoleServer, elicit_safe, handler::server::wrapper::Parameters,
    service::RequestContext, tool, tool_router,
};

use crate::{Shop, failed};

elicit_safe!(Agreed, Refund);

#[tool_router(router = desk0, vis = "pub")]
impl Shop {
    #[tool(description = "Find books by their title.")]
    async fn desk0_find(&self, Parameters(find): Parameters<Find>) -> Result<Json<Found>, ErrorData> {
        let author = find.author.unwrap_or_else(|| self.owner.to_string());
        let book = Book {
            title: find.title,
            author,
            year: Some(1818),
        };
        Ok(Json(Found {
            books: vec![book],
            more: find.most > 1,
        }))
    }

    #[tool(description = "How many copies of a book there are.")]
    async fn desk0_stock(&self, Parameters(stock): Parameters<Stock>) -> String {
        let Book { title, author, .. } = stock.book;
        format!("{GREETING}: {title} by {author} on {}", stock.shelves.join(", "))
    }

    #[tool(description = "Order a book.")]
    async fn desk0_order(
        &self,
        Parameters(order): Parameters<Order>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let message = format!("{GREETING}. Order {}?", order.title);
        let agreed = context.peer.elicit::<Agreed>(message).await.map_err(failed)?;
        Ok(match agreed {
            Some(Agreed { ok: true }) => format!("{} copies, {:?}", order.copies, order.binding),
            _ => "Nothing ordered".to_owned(),
        })
    }

    #[tool(description = "Send a book back.")]
    async fn desk0_send_back(
        &self,
        Parameters(back): Parameters<SendBack>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let why = back.reason.unwrap_or_default();
        let message = format!("Send {} back? {why}", back.order);
        let refund = context.peer.elicit::<Refund>(message).await.map_err(failed)?;
        Ok(match refund {
            Some(Refund { account, whole: true, .. }) => format!("Paid to {account}"),
            Some(Refund { remark, .. }) => remark.unwrap_or_default(),
            None => "Kept".to_owned(),
        })
    }
}
