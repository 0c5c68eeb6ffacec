//! From values to a URI.

use percent_encoding::percent_encode_byte;

use super::{
    bindings::Bindings,
    charset::Charset,
    parse::{Expression, Part, Variable},
};

pub(super) fn expand(parts: &[Part], values: &Bindings) -> String {
    let mut uri = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => uri.push_str(text),
            Part::Expression(expression) => expression.write(values, &mut uri),
        }
    }
    uri
}

impl Expression {
    fn write(&self, values: &Bindings, uri: &mut String) {
        let mut before = self.operator.prefix();
        for variable in &self.variables {
            let Some(value) = values.get(&variable.name) else {
                continue;
            };
            // Exploded, every item stands like a value of its own.
            let size = if variable.explode { 1 } else { usize::MAX };
            for items in value.items().chunks(size) {
                uri.extend(before);
                before = Some(self.operator.separator());
                self.write_value(variable, items, uri);
            }
        }
    }

    fn write_value(&self, variable: &Variable, items: &[String], uri: &mut String) {
        if self.operator.is_named() {
            uri.push_str(&variable.name);
            if self.operator.writes_equals_for_empty() || items.iter().any(|item| !item.is_empty())
            {
                uri.push('=');
            }
        }
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                uri.push(',');
            }
            escape(item, self.unescaped, uri);
        }
    }
}

fn escape(text: &str, unescaped: Charset, uri: &mut String) {
    for byte in text.bytes() {
        if unescaped.has(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(percent_encode_byte(byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bindings, Template};

    /// The variables of RFC 6570, section 3.2.
    fn values() -> Bindings {
        Bindings::new()
            .with("count", ["one", "two", "three"])
            .with("dom", ["example", "com"])
            .with("dub", "me/too")
            .with("hello", "Hello World!")
            .with("half", "50%")
            .with("var", "value")
            .with("who", "fred")
            .with("base", "http://example.com/home/")
            .with("path", "/foo/bar")
            .with("list", ["red", "green", "blue"])
            .with("v", "6")
            .with("x", "1024")
            .with("y", "768")
            .with("empty", "")
            .with("none", Vec::new())
    }

    #[test]
    fn expands_as_in_the_tables_of_the_rfc() {
        let table = [
            // Section 3.2.1, less the lines with a prefix or a name twice.
            ("{count}", "one,two,three"),
            ("{count*}", "one,two,three"),
            ("{/count}", "/one,two,three"),
            ("{/count*}", "/one/two/three"),
            ("{;count}", ";count=one,two,three"),
            ("{;count*}", ";count=one;count=two;count=three"),
            ("{?count}", "?count=one,two,three"),
            ("{?count*}", "?count=one&count=two&count=three"),
            ("{&count*}", "&count=one&count=two&count=three"),
            // 3.2.2
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{half}", "50%25"),
            ("O{empty}X", "OX"),
            ("O{undef}X", "OX"),
            ("{x,y}", "1024,768"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("?{x,empty}", "?1024,"),
            ("?{x,undef}", "?1024"),
            ("?{undef,y}", "?768"),
            ("{list}", "red,green,blue"),
            ("{list*}", "red,green,blue"),
            // 3.2.3
            ("{+var}", "value"),
            ("{+hello}", "Hello%20World!"),
            ("{+half}", "50%25"),
            ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
            ("{+base}index", "http://example.com/home/index"),
            ("O{+empty}X", "OX"),
            ("O{+undef}X", "OX"),
            ("{+path}/here", "/foo/bar/here"),
            ("here?ref={+path}", "here?ref=/foo/bar"),
            ("up{+path}/{var}/here", "up/foo/bar/value/here"),
            ("{+x,hello,y}", "1024,Hello%20World!,768"),
            ("{+path,x}/here", "/foo/bar,1024/here"),
            ("{+list}", "red,green,blue"),
            ("{+list*}", "red,green,blue"),
            // 3.2.4
            ("{#var}", "#value"),
            ("{#hello}", "#Hello%20World!"),
            ("{#half}", "#50%25"),
            ("foo{#empty}", "foo#"),
            ("foo{#undef}", "foo"),
            ("{#x,hello,y}", "#1024,Hello%20World!,768"),
            ("{#path,x}/here", "#/foo/bar,1024/here"),
            ("{#list}", "#red,green,blue"),
            ("{#list*}", "#red,green,blue"),
            // 3.2.5
            ("{.who}", ".fred"),
            ("{.half,who}", ".50%25.fred"),
            ("www{.dom*}", "www.example.com"),
            ("X{.var}", "X.value"),
            ("X{.empty}", "X."),
            ("X{.undef}", "X"),
            ("X{.list}", "X.red,green,blue"),
            ("X{.list*}", "X.red.green.blue"),
            ("X{.none}", "X"),
            ("X{.none*}", "X"),
            // 3.2.6
            ("{/who}", "/fred"),
            ("{/half,who}", "/50%25/fred"),
            ("{/who,dub}", "/fred/me%2Ftoo"),
            ("{/var}", "/value"),
            ("{/var,empty}", "/value/"),
            ("{/var,undef}", "/value"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{/list}", "/red,green,blue"),
            ("{/list*}", "/red/green/blue"),
            // 3.2.7
            ("{;who}", ";who=fred"),
            ("{;half}", ";half=50%25"),
            ("{;empty}", ";empty"),
            ("{;v,empty,who}", ";v=6;empty;who=fred"),
            ("{;v,bar,who}", ";v=6;who=fred"),
            ("{;x,y}", ";x=1024;y=768"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{;x,y,undef}", ";x=1024;y=768"),
            ("{;list}", ";list=red,green,blue"),
            ("{;list*}", ";list=red;list=green;list=blue"),
            // 3.2.8
            ("{?who}", "?who=fred"),
            ("{?half}", "?half=50%25"),
            ("{?x,y}", "?x=1024&y=768"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("{?x,y,undef}", "?x=1024&y=768"),
            ("{?list}", "?list=red,green,blue"),
            ("{?list*}", "?list=red&list=green&list=blue"),
            // 3.2.9
            ("{&who}", "&who=fred"),
            ("{&half}", "&half=50%25"),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{&x,y,empty}", "&x=1024&y=768&empty="),
            ("{&x,y,undef}", "&x=1024&y=768"),
            ("{&list}", "&list=red,green,blue"),
            ("{&list*}", "&list=red&list=green&list=blue"),
        ];
        for (text, expected) in table {
            let template = Template::parse(text).expect(text);
            assert_eq!(template.expand(&values()), expected, "{text}");
        }
    }

    #[test]
    fn a_value_never_turns_into_an_escape_or_another_part() {
        let values = Bindings::new()
            .with("path", "a%2Fb?c#d,e")
            .with("q", "1")
            .with("z", "f?g");
        for (text, expected) in [
            ("{+path}", "a%252Fb?c#d,e"),
            ("{+path}{?q}", "a%252Fb%3Fc#d,e?q=1"),
            ("{+path}{#z}", "a%252Fb?c%23d,e#f?g"),
            ("{+path,q}", "a%252Fb?c#d%2Ce,1"),
        ] {
            let template = Template::parse(text).expect(text);
            assert_eq!(template.expand(&values), expected, "{text}");
        }
    }
}
