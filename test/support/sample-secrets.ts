import { createRandom } from '../../src/core/numeric/random.ts';

/** One made-up secret; `text` has enough context to recognise it. */
export interface SampleSecret {
  readonly kind: string;
  readonly secret: string;
  readonly text: string;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const MIXED = `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}`;

/** `count` secrets of about seventy kinds in turn; the same for one seed. */
export function sampleSecrets(count: number, seed: number): SampleSecret[] {
  const random = createRandom(seed);
  const of = (letters: string, length: number) =>
    Array.from({ length }, () => letters[random.int(letters.length)]).join('');
  const mixed = (length: number) => of(MIXED, length);
  const hex = (length: number) => of('0123456789abcdef', length);
  const upper = (length: number) => of(`${LETTERS.toUpperCase()}${DIGITS}`, length);
  const word = () => `${of(LETTERS, 5)}-${of(DIGITS, 4)}-${mixed(5)}`;
  const base64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  /** Recognised by themselves. */
  const alone: Record<string, () => string> = {
    GitHub: () => `ghp_${mixed(36)}`,
    'GitHub, fine-grained': () => `github_pat_${mixed(22)}_${mixed(59)}`,
    GitLab: () => `glpat-${mixed(20)}`,
    AWS: () => `AKIA${upper(16)}`,
    Google: () => `AIza${mixed(35)}`,
    'Google, OAuth': () => `ya29.${mixed(60)}`,
    'Google, client': () => `GOCSPX-${mixed(28)}`,
    Azure: () => `${mixed(3)}8Q~${mixed(34)}`,
    Stripe: () => `sk_live_${mixed(24)}`,
    'Stripe, webhook': () => `whsec_${mixed(32)}`,
    Slack: () => `xoxb-${of(DIGITS, 12)}-${mixed(24)}`,
    OpenAI: () => `sk-proj-${mixed(48)}`,
    Anthropic: () => `sk-ant-api03-${mixed(80)}`,
    npm: () => `npm_${mixed(36)}`,
    PyPI: () => `pypi-AgEIcHlwaS5vcmc${mixed(60)}`,
    'Hugging Face': () => `hf_${mixed(34)}`,
    SendGrid: () => `SG.${mixed(22)}.${mixed(43)}`,
    Mailgun: () => `key-${hex(32)}`,
    Mailchimp: () => `${hex(32)}-us${1 + random.int(20)}`,
    Twilio: () => `SK${hex(32)}`,
    Telegram: () => `${of('123456789', 9)}:AA${mixed(33)}`,
    Discord: () => `M${mixed(25)}.${mixed(6)}.${mixed(38)}`,
    Docker: () => `dckr_pat_${mixed(27)}`,
    Heroku: () => `HRKU-${mixed(40)}`,
    Vault: () => `hvs.${mixed(40)}`,
    Databricks: () => `dapi${hex(32)}`,
    DigitalOcean: () => `dop_v1_${hex(64)}`,
    Figma: () => `figd_${mixed(40)}`,
    Grafana: () => `glsa_${mixed(32)}_${hex(8)}`,
    Linear: () => `lin_api_${mixed(40)}`,
    'New Relic': () => `NRAK-${upper(27)}`,
    Notion: () => `ntn_${mixed(43)}`,
    Airtable: () => `pat${mixed(14)}.${hex(64)}`,
    Atlassian: () => `ATATT3${mixed(180)}`,
    Postman: () => `PMAK-${hex(24)}-${hex(34)}`,
    Sentry: () => `sntrys_${mixed(60)}`,
    Shopify: () => `shpat_${hex(32)}`,
    Square: () => `sq0csp-${mixed(43)}`,
    Supabase: () => `sbp_${hex(40)}`,
    Tailscale: () => `tskey-auth-${mixed(30)}`,
    RubyGems: () => `rubygems_${hex(48)}`,
    Groq: () => `gsk_${mixed(52)}`,
    PML: () => `pml_${hex(64)}`,
    'JSON web token': () => `${base64Url({ alg: 'HS256' })}.${base64Url({ sub: word() })}.${mixed(43)}`,
    'hash of a password': () => `$2b$12$${mixed(53)}`,
  };
  /** Recognised by their context. */
  const around: Record<string, (secret: string) => string> = {
    PEM: (s) => `-----BEGIN RSA PRIVATE KEY-----\n${s}\n-----END RSA PRIVATE KEY-----`,
    PuTTY: (s) => `Private-Lines: 1\n${s.replaceAll('-', '')}\nPrivate-MAC: 00`,
    bearer: (s) => `Authorization: Bearer ${s}`,
    basic: (s) => `authorization: Basic ${s}`,
    cookie: (s) => `Set-Cookie: sid=${s}; HttpOnly`,
    PostgreSQL: (s) => `postgres://joe:${s}@db:5432/app`,
    MongoDB: (s) => `mongodb+srv://joe:${s}@cluster.example.net`,
    'basic-auth address': (s) => `https://joe:${s}@example.com/`,
    'Azure storage': (s) => `AccountName=a;AccountKey=${s};EndpointSuffix=core.windows.net`,
    'signed address': (s) => `https://a.blob.core.windows.net/x?sv=1&sig=${s}`,
    'presigned address': (s) => `https://s3.example.com/x?X-Amz-Signature=${s}&x=1`,
    'Slack webhook': (s) => `https://hooks.slack.com/services/T01/B01/${s}`,
    'Discord webhook': (s) => `https://discord.com/api/webhooks/123456789012345678/${s}`,
    curl: (s) => `curl -u joe:${s} https://example.com`,
    mysql: (s) => `mysql -u root -p${s} app`,
    sshpass: (s) => `sshpass -p ${s} ssh joe@example.com`,
    netrc: (s) => `machine example.com login joe password ${s}`,
    XML: (s) => `<login><password>${s}</password></login>`,
    Ruby: (s) => `{ :password => '${s}' }`,
    environment: (s) => `SMTP_PASS=${s}`,
    JSON: (s) => `{"client_secret":"${s}"}`,
    entry: (s) => `{"name":"DB_PASSWORD","value":"${s}"}`,
    flag: (s) => `deploy --api-key ${s} --verbose`,
    Spanish: (s) => `contraseña: ${s}`,
    German: (s) => `Passwort: ${s}`,
    Chinese: (s) => `密码：${s}`,
  };
  const kinds: (() => SampleSecret)[] = [
    ...Object.entries(alone).map(([kind, make]) => () => {
      const secret = make();
      return { kind, secret, text: `the key is ${secret}` };
    }),
    ...Object.entries(around).map(([kind, put]) => () => {
      const secret = kind === 'PuTTY' ? mixed(40) : word() + mixed(8);
      return { kind, secret, text: put(secret) };
    }),
  ];
  return Array.from({ length: count }, (_, i) => kinds[i % kinds.length]!());
}
