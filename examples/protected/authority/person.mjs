// A person with a browser: person.mjs URL NAME
// Opens a page, says who they are, and goes where that leads.
const [, , start, name] = process.argv;
const cookies = new Map();

async function visit(url, form) {
  const headers = { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join("; ") };
  const response = await fetch(url, { method: form ? "POST" : "GET", body: form, headers, redirect: "manual" });
  for (const cookie of response.headers.getSetCookie()) {
    const [, key, value] = /^([^=]+)=([^;]*)/.exec(cookie);
    cookies.set(key, value);
  }
  return response;
}

let [url, form] = [start, undefined];
for (let steps = 0; steps < 20; steps += 1) {
  const response = await visit(url, form);
  const location = response.headers.get("location");
  const text = await response.text();
  const action = /<form method="post" action="([^"]+)"/.exec(text)?.[1];
  if (location) [url, form] = [new URL(location, url).href, undefined];
  else if (action) [url, form] = [new URL(action, url).href, new URLSearchParams({ name })];
  else if (response.ok) process.exit(0);
  else throw new Error(`${url.split("?")[0]} answers ${response.status}: ${text.slice(0, 500)}`);
}
throw new Error("this leads nowhere");
