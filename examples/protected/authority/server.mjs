// An authorization server, made of oidc-provider: server.mjs PORT
// Whoever says a name is that person; everybody may use the shop. Prints `ready` once it listens.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const port = Number(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const algorithm = { name: "ECDSA", namedCurve: "P-256" };
const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
const key = await crypto.subtle.exportKey("jwk", pair.privateKey);

const provider = new Provider(issuer, {
  clients: [],
  clientDefaults: { id_token_signed_response_alg: "ES256" },
  jwks: { keys: [{ kty: key.kty, crv: key.crv, x: key.x, y: key.y, d: key.d, kid: "one", use: "sig", alg: "ES256" }] },
  pkce: { required: () => true },
  cookies: { keys: [crypto.randomUUID()] },
  scopes: ["openid", "offline_access"],
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        audience: resource,
        scope: "orders:read orders:write",
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
});

const page = (uid) => `<!doctype html><meta charset="utf-8"><title>Sign in</title>
<form method="post" action="/sign-in/${uid}"><label>Who are you? <input name="name"></label><button>Sign in</button></form>`;

// What somebody sends with the form.
async function sent(request) {
  let body = "";
  for await (const part of request) body += part;
  return new URLSearchParams(body);
}

// Lets a person in, and allows all that was asked for.
async function signIn(request, response) {
  const { prompt, params, grantId } = await provider.interactionDetails(request, response);
  const accountId = (await sent(request)).get("name");
  const grant = (grantId && (await provider.Grant.find(grantId))) || new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope ?? "");
  for (const resource of [params.resource].flat()) grant.addResourceScope(resource, params.scope ?? "");
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  if (prompt.name === "consent") delete result.login;
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const callback = provider.callback();
createServer((request, response) => {
  const [, uid] = /^\/sign-in\/([\w-]+)$/.exec(request.url) ?? [];
  if (!uid) return callback(request, response);
  if (request.method === "POST") {
    return signIn(request, response).catch((error) => {
      response.statusCode = 400;
      response.end(String(error));
    });
  }
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(page(uid));
}).listen(port, "127.0.0.1", () => console.log("ready"));
