import { Provider } from "oidc-provider";

const [port, id, secret, callback] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: id, client_secret: secret, redirect_uris: [callback] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  async findAccount(context, sub) {
    return { accountId: sub, claims: async () => ({ sub, email: `${sub}@example.org`, email_verified: true, name: sub }) };
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
