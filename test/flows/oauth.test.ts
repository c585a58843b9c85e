import { expect, test } from 'vitest';
import { call, connect, hostedClient, oauthGateway, pkce, REDIRECT } from '../support/oauth-gateway.ts';

test('[OAUTH-1] explore', async () => {
  const gateway = await oauthGateway();
  const { url } = gateway;
  console.log(await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json());
  console.log(await (await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)).json());
  const r = await call(url, undefined);
  console.log(r.status, r.headers.get('www-authenticate'));
  const client = hostedClient(url);
  console.log(await client.register());
  for (const scope of ['openid pml:run', 'pml:admin', 'offline_access pml:run']) {
    const c = await connect(gateway, await gateway.browser(), { scope });
    console.log(scope, c.back.href, await c.exchange());
  }
  const browser = await gateway.browser();
  const { client_id } = (await client.register()).body;
  const p = pkce();
  const started = await browser.get(client.authorizeUrl({ client_id, code_challenge: p.challenge }));
  console.log(started.status, started.headers, await started.text());
  const consent = String(started.headers.get('location'));
  console.log(await browser.asked(consent));
  const d = await browser.decide(consent, { allow: true });
  console.log(d);
  const resumed = await browser.get(String(d.body.location));
  console.log(resumed.status, resumed.headers, await resumed.text());
  const back = new URL(String(resumed.headers.get('location')), url);
  const t = await client.token({
    grant_type: 'authorization_code',
    client_id,
    code: back.searchParams.get('code')!,
    redirect_uri: REDIRECT,
    code_verifier: p.verifier,
    resource: `${url}/mcp`,
  });
  console.log(t);
  const ok = await call(url, t.body.access_token);
  console.log(ok.status, await ok.text());
  const t2 = await client.token({
    grant_type: 'refresh_token',
    client_id,
    refresh_token: t.body.refresh_token,
  });
  console.log(t2);
  const t3 = await client.token({
    grant_type: 'refresh_token',
    client_id,
    refresh_token: t.body.refresh_token,
  });
  console.log(t3);
  const ok2 = await call(url, t2.body.access_token);
  console.log(ok2.status);
});
