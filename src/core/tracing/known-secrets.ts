import { withoutEnding } from '../vocabulary/text.ts';
import type { Span } from './found-secrets.ts';

/** The last word of a name says what the name holds: `githubToken`, `PGPASSWORD`, `x-api-key`. */
const SECRET_WORD =
  /(?:password|passwords|passwd|passphrase|passphrases|passcode|pwd|secret|secrets|token|apikey|apikeys|accesskey|secretkey|privatekey|signingkey|authkey|authtoken|authorization|credential|credentials|cookie|cookies|jwt|connectionstring|connstr|webhookurl|sessionid|sessid|mnemonic|seedphrase|encryptionkey|masterkey)$/;
/** Must be the whole last word: as the end of another word (`bypass`, `spin`, `residual`) they mean nothing. */
const WHOLE_WORDS = words(
  'pass passwds pw pws psk pin pins otp totp hotp cvv cvc csc cvn sid auth bearer creds cred ' +
    'dbpass userpass smtppass mailpass rootpass adminpass sshpass ftppass keypass storepass ldappass pgpass mysqlpass ' +
    'proxypass sshkey apitoken csrf xsrf sas mnemonics webhooksecret',
);
/**
 * The same in other languages, without accents. For names of several words (`mot de passe`) also the last word,
 * the only one that stands directly before the value in text.
 */
const FOREIGN_WORDS = words(
  'contrasena contrasenya clave claves senha senhas palavrapasse motdepasse passe mdp passwort passworter kennwort ' +
    'kennworter losungswort geheimnis geheim wachtwoord wachtwoorden losenord adgangskode kodeord passord salasana haslo ' +
    'hasla heslo hesla jelszo sifre parola parole parool slaptazodis lozinka sifra geslo sandi katasandi laluan ' +
    'katalaluan khau matkhau makhau пароль пароля парола лозинка шифра гасло сырсоз κωδικος συνθηματικο סיסמה סיסמא ' +
    'المرور السر سر عبور گذرواژه पासवरड पासवर्ड',
);
/** Languages written without spaces: a name is secret if it ends in one of these. */
const UNSPACED =
  /(?:密码|密碼|口令|密钥|密鑰|令牌|パスワード|暗証番号|秘密鍵|비밀번호|패스워드|암호|รหัสผ่าน|पासवर्ड)$/u;
/** `key` alone is harmless (primary key, sort key); after one of these words it is a secret. */
const KEY_OWNERS = words(
  'api access private secret signing signature encryption decryption master account shared auth service ssh client ' +
    'webhook deploy bot app admin storage license recovery hmac aes rsa gpg pgp jwt consumer subscription root tls ssl ' +
    'crypto cipher wrapping backup session security integration sas vault unseal django rails flask cookie stripe openai ' +
    'anthropic aws azure gcp google gemini github gitlab sendgrid mailgun twilio algolia datadog sentry mapbox slack ' +
    'discord telegram publish server sk host functions pre preshared wifi',
);
/** `tokens` is usually a count, except after these words. */
const TOKEN_OWNERS = words(
  'access refresh auth api bearer id session secret bot user device csrf oauth personal github',
);
/** Words that make `code` or `codes` a secret: `backup_codes`, `security_code`. */
const CODE_OWNERS = words(
  'backup recovery verification security auth authorization authorisation otp mfa 2fa tfa time access pairing sms ' +
    'confirmation login unlock reset activation scratch emergency puk pin',
);
const PHRASE_OWNERS = words('seed recovery mnemonic secret backup wallet pass');
/** Tokens that are a list cursor, a unit of text or a request id are not secrets. */
const HARMLESS_TOKEN =
  /(?:page|next|previous|continuation|sync|progress|cancel|cancellation|cursor|delta|start|end|eos|bos|pad|unk|mask|stop|special|max)token$/;
/** Words that may follow the decisive one: `password_hash`, `secret_key_base`, `passwordConfirmation`. */
const TRAILING = words(
  'value hash text raw plain plaintext base64 b64 string base confirmation confirm confirmed repeat repeated again new ' +
    'old current encrypted encoded input',
);
/** These also name groups of settings that are not all secret: `auth: { kind, user, … }`. */
const LOOSE_GROUPS = words('auth session cookie cookies pass pin sid');

/** A cheap first test: most names contain none of these and need not be split into words. */
const SUSPECT =
  /pass|pwd|pw|psk|secret|token|key|auth|cred|cookie|jwt|pat|pin|otp|cv[vcn]|csc|sid|sess|bearer|code|phrase|words|seed|mnemonic|conn|webhook|[cx]srf|sas|number|clave|senha|wort|wachtwoord|ord|salasana|hasl|hesl|jelszo|jelszó|[sş]ifr|parol|parool|lozinka|geslo|sandi|laluan|khau|mdp|geheim|contrase|kode|slapta|[^\x20-\x7e]/i;

const NUMBER_OWNERS = words('card cc creditcard debitcard');

/** The same names recur, so the latest answers are cached. */
const ANSWERS = new Map<string, boolean>();
const MAX_ANSWERS = 2_000;

/** Whether a key, header, flag or variable of this name usually holds something secret. */
export function isSecretName(name: string): boolean {
  const known = ANSWERS.get(name);
  if (known !== undefined) return known;
  const answer = judge(name);
  if (name.length > 64) return answer;
  if (ANSWERS.size >= MAX_ANSWERS) ANSWERS.clear();
  ANSWERS.set(name, answer);
  return answer;
}

function judge(name: string): boolean {
  // The shell's working directory; `pwd` in any other spelling is a password.
  if (name.length > 128 || name === 'PWD' || name === 'OLDPWD' || !SUSPECT.test(name)) return false;
  if (UNSPACED.test(name)) return true;
  const parts = wordsOf(name);
  const last = parts.at(-1);
  if (last === undefined) return false;
  const before = parts.at(-2) ?? '';
  if (HARMLESS_TOKEN.test(before + last)) return false;
  if (SECRET_WORD.test(last) || WHOLE_WORDS.has(last) || FOREIGN_WORDS.has(last)) return true;
  switch (last) {
    case 'pat':
      return parts.length > 1;
    case 'key':
    case 'keys':
      return KEY_OWNERS.has(before);
    case 'tokens':
      return TOKEN_OWNERS.has(before);
    case 'code':
    case 'codes':
      return CODE_OWNERS.has(before);
    case 'phrase':
    case 'words':
    case 'seed':
      return PHRASE_OWNERS.has(before);
    case 'answer':
    case 'answers':
      return before === 'security' || before === 'secret';
    case 'number':
      return NUMBER_OWNERS.has(before);
    case 'id':
      return before === 'session' || before === 'sess';
    case 'string':
    case 'str':
      return before === 'connection' || before === 'conn';
    case 'url':
      return before === 'webhook';
    default:
      return false;
  }
}

/** Whether everything below such a name is secret, not only a text directly under it. */
export function isSecretGroup(name: string): boolean {
  return isSecretName(name) && !LOOSE_GROUPS.has(wordsOf(name).at(-1) ?? '');
}

/** `tavilyApiKey2` -> tavily, api, key; without trailing words such as `hash`. */
function wordsOf(name: string): string[] {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .split(/[^\p{L}\p{M}\p{N}]/u)
    .map((word) => (TRAILING.has(word) ? word : withoutEnding(word, '0123456789')))
    .filter((word) => word !== '');
  if (parts.at(-1) === 'string' && (parts.at(-2) === 'connection' || parts.at(-2) === 'conn')) return parts;
  while (parts.length > 1 && TRAILING.has(parts.at(-1)!)) parts.pop();
  return parts;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/**
 * Keys and tokens that begin with their issuer's prefix, matched only at the beginning of a word. The rest of the
 * key cannot contain the prefix again, or contains it as a part of the key. Each comment names the issuer.
 */
const KEYS: readonly RegExp[] = [
  // Code hosts, registries, build services
  /gh[pousr]_\w{16,}/y, // GitHub
  /github_pat_\w{16,}/y,
  /gl(?:pat|ptt|dt|rt|cbt|soat|imt|agent|ft|ffct|oas|wt)-[\w-]{16,}/y, // GitLab
  /GR1348941[\w-]{16,}/y,
  /npm_\w{30,}/y,
  /pypi-[\w-]{32,}/y,
  /rubygems_[0-9a-f]{32,}/y,
  /CLOJARS_\w{40,}/y,
  /dckr_[po]at_[\w-]{16,}/y, // Docker
  /CCIP(?:AT|RJ)_[\w-]{20,}/y, // CircleCI
  /bk(?:ua|ct|at)_\w{20,}/y, // Buildkite
  /sq[pua]_[0-9a-f]{32,}/y, // SonarQube
  /AKCp\w{40,}/y, // Artifactory
  /cmVmd\w{50,}/y,
  /ATATT3[\w=-]{40,}/y, // Atlassian, Bitbucket, Trello
  /ATCTT3[\w=-]{40,}/y,
  /ATBB\w{20,}/y,
  /ATTA\w{40,}/y,
  /sgp_\w{30,}/y, // Sourcegraph
  /figd_[\w-]{30,}/y,
  /lin_(?:api|oauth)_\w{16,}/y,
  /PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}/y, // Postman
  /API-[A-Z0-9]{26,}/y, // Octopus Deploy
  /rdme_\w{40,}/y,
  // Clouds
  /A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}/y, // AWS
  /ABSK[\w+/=]{80,}/y,
  /AIza[\w-]{30,}/y, // Google
  /ya29\.[\w-]{16,}/y,
  /GOCSPX-[\w-]{16,}/y,
  /1\/\/0[\w-]{30,}/y,
  /do[opr]_v1_\w{32,}/y, // DigitalOcean
  /HRKU-[\w-]{30,}/y, // Heroku
  /LTAI[A-Za-z0-9]{12,}/y, // Alibaba
  /AKID[A-Za-z0-9]{28,}/y, // Tencent
  /hv[sbr]\.[\w-]{20,}/y, // Vault
  /pul-[0-9a-f]{32,}/y, // Pulumi
  /pscale_(?:tkn|pw|oauth)_[\w.=-]{20,}/y,
  /dapi[0-9a-f]{32}(?:-\d)?/y, // Databricks
  /dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{30,}/y, // Doppler
  /dt0[a-z]\d\d\.[A-Z0-9]{16,}\.[A-Z0-9]{40,}/y, // Dynatrace
  /f[om]\d[a-z]?_[\w+/=,-]{40,}/y, // Fly.io
  /nfp_\w{30,}/y, // Netlify
  /napi_\w{30,}/y, // Neon
  /rnd_\w{24,}/y, // Render
  /sbp_[0-9a-f]{32,}/y, // Supabase
  /sb_secret_[\w-]{16,}/y,
  /sha256~[\w-]{40,}/y, // OpenShift
  /tskey-[\w-]{16,}/y, // Tailscale
  /v1\.0-[0-9a-f]{20,}-[0-9a-f]{100,}/y, // Cloudflare
  /AGE-SECRET-KEY-1\w{32,}/y,
  /ops_eyJ[\w-]{40,}/y, // 1Password
  /A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}/y,
  // AI models and tools
  /sk-[\w-]{16,}/y, // OpenAI, Anthropic, OpenRouter, DeepSeek
  /sk_[0-9a-f]{40,}/y, // ElevenLabs
  /hf_[A-Za-z0-9]{24,}/y,
  /api_org_[A-Za-z0-9]{24,}/y,
  /gsk_\w{24,}/y, // Groq
  /xai-\w{24,}/y,
  /r8_\w{24,}/y, // Replicate
  /pplx-\w{24,}/y,
  /tvly-[\w-]{16,}/y,
  /fc-[0-9a-f]{32}/y, // Firecrawl
  /BSA[\w-]{24,}/y, // Brave
  /jina_\w{32,}/y,
  /apify_api_\w{20,}/y,
  /bb_live_[\w-]{20,}/y,
  /e2b_[0-9a-f]{32,}/y,
  /pcsk_\w{32,}/y, // Pinecone
  /lsv2_(?:pt|sk)_\w{20,}/y, // LangSmith
  // Payment
  /[sr]k_(?:live|test)_\w{10,}/y, // Stripe
  /whsec_[\w+/=]{16,}/y,
  /sq0(?:atp|csp)-[\w-]{20,}/y, // Square
  /EAAA[\w-]{50,}/y,
  /rzp_(?:live|test)_\w{10,}/y,
  /access-(?:sandbox|development|production)-[0-9a-f-]{30,}/y, // Plaid
  /access_token\$(?:production|sandbox)\$\w{10,}\$[0-9a-f]{20,}/y, // PayPal
  /FLWSECK(?:_TEST)?-[\w-]{12,}/y,
  /EZ[AT]K\w{40,}/y, // EasyPost
  /shippo_(?:live|test)_[0-9a-f]{32,}/y,
  /shp(?:at|ss|ca|pa)_\w{24,}/y, // Shopify
  // Communication and collaboration
  /xox[a-z][.-][\w.-]{8,}/y, // Slack
  /xapp-[\w-]{8,}/y,
  /SG\.[\w-]{16,}\.[\w-]{16,}/y, // SendGrid
  /key-[0-9a-f]{32}/y, // Mailgun
  /xkeysib-[0-9a-f]{40,}-\w{10,}/y,
  /re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,}/y, // Resend
  /AC[0-9a-f]{32}/y, // Twilio
  /SK[0-9a-f]{32}/y,
  /ntn_\w{24,}/y, // Notion
  /secret_[A-Za-z0-9]{40,}/y,
  /pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}/y, // Airtable
  /pat-(?:na|eu|ap)\d-[0-9a-f-]{30,}/y, // HubSpot
  /pk_\d{4,12}_[A-Z0-9]{30,}/y, // ClickUp
  /CFPAT-[\w-]{40,}/y, // Contentful
  /tfp_[\w-]{40,}/y, // Typeform
  /EAA[A-Za-z0-9]{60,}/y, // Facebook
  /AAAAAAAAAAAAAAAAAAAA[\w%]{60,}/y, // Twitter
  /00D[A-Za-z0-9]{12,15}![\w.]{40,}/y, // Salesforce
  /y0_[\w-]{30,}/y, // Yandex
  /AQVN[\w-]{30,}/y,
  /sl\.[\w-]{60,}/y, // Dropbox
  // Monitoring
  /gls[ac]?_\w{32,}/y, // Grafana
  /glc_[\w+/=]{32,}/y,
  /eyJrIjoi\w{50,}/y,
  /NRA[KAL]-[A-Z0-9]{24,}/y, // New Relic
  /NRII-[\w-]{24,}/y,
  /sntry[su]_[\w+/=-]{32,}/y, // Sentry
  // PML itself
  /pml_[0-9a-f]{32,}/y,
  // Password hashes
  /\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}/y,
  /\$(?:argon2id|argon2i|argon2d|scrypt|pbkdf2-sha\d{1,3})\$[\w$+/=,.-]{20,}/y,
  /\$[1567y]\$[\w./$=-]{20,}/y,
];

/** Grouped by their first code unit: at most places in a text, no key begins. */
const BY_FIRST: ReadonlyMap<number, readonly RegExp[]> = (() => {
  const found = new Map<number, RegExp[]>();
  for (const key of KEYS) {
    const [, set, one] = /^(?:\[([^\]]+)\]|\\?(.))/.exec(key.source)!;
    for (const first of set ?? one!) found.getOrInsertComputed(first.charCodeAt(0), () => []).push(key);
  }
  return found;
})();

export function findIssuerKeys(text: string, spans: Span[]): void {
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const keys = isInWord ? undefined : BY_FIRST.get(code);
    isInWord = isLetterOrDigit(code);
    const end = keys ? endOfKey(text, at, keys) : at;
    if (end === at) continue;
    spans.push([at, end]);
    at = end - 1;
    isInWord = isLetterOrDigit(text.charCodeAt(at));
  }
}

function endOfKey(text: string, start: number, keys: readonly RegExp[]): number {
  for (const key of keys) {
    key.lastIndex = start;
    if (key.test(text)) return key.lastIndex;
  }
  return start;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
