use antiphon::{Answer, Args, Ask, Json, Server, State, Stop};

use crate::Shop;

async fn find(Args(find): Args<Find>, State(shop): State<Shop>) -> Result<Json<Found>, Stop> {
    let author = find.author.unwrap_or_else(|| shop.owner.to_string());
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

async fn stock(Args(stock): Args<Stock>) -> String {
    let Book { title, author, .. } = stock.book;
    format!("{GREETING}: {title} by {author} on {}", stock.shelves.join(", "))
}

async fn order(Args(order): Args<Order>, ask: Ask) -> Result<String, Stop> {
    let Agreed { ok } = ask.form("agreed", format!("{GREETING}. Order {}?", order.title))?;
    Ok(match ok {
        true => format!("{} copies, {:?}", order.copies, order.binding),
        false => "Nothing ordered".to_owned(),
    })
}

async fn send_back(Args(back): Args<SendBack>, ask: Ask) -> Result<String, Stop> {
    let why = back.reason.unwrap_or_default();
    let refund = ask.form("refund", format!("Send {} back? {why}", back.order))?;
    Ok(match refund {
        Answer::Accept(Refund { account, whole: true, .. }) => format!("Paid to {account}"),
        Answer::Accept(Refund { remark, .. }) => remark.unwrap_or_default(),
        _ => "Kept".to_owned(),
    })
}

pub fn add(server: Server<Shop>) -> Server<Shop> {
    server
        .tool("desk0_find", find)
        .tool("desk0_stock", stock)
        .tool("desk0_order", order)
        .tool("desk0_send_back", send_back)
}
