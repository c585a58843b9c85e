import { withoutEnding } from '../vocabulary/text.ts';

/** A name's last word says what it holds: `githubToken`, `PGPASSWORD`, `x-api-key`. */
const SECRET_WORD =
  /(?:password|passwords|passwd|passphrase|passphrases|passcode|pwd|secret|secrets|token|apikey|apikeys|accesskey|secretkey|privatekey|signingkey|authkey|authtoken|authorization|credential|credentials|cookie|cookies|jwt|connectionstring|connstr|webhookurl|sessionid|sessid|mnemonic|seedphrase|encryptionkey|masterkey)$/;
/** The whole last word: as the end of another one (`bypass`, `spin`, `residual`) they say nothing. */
const WHOLE_WORDS = words(
  'pass passwds pw pws psk pin pins otp totp hotp cvv cvc csc cvn sid auth bearer creds cred ' +
    'dbpass userpass smtppass mailpass rootpass adminpass sshpass ftppass keypass storepass ldappass pgpass mysqlpass ' +
    'proxypass sshkey apitoken csrf xsrf sas mnemonics webhooksecret',
);
/**
 * The same in other languages, without accents. Of names that are several words (`mot de passe`) also the last,
 * which is all that stands right before the value in text.
 */
const FOREIGN_WORDS = words(
  'contrasena contrasenya clave claves senha senhas palavrapasse motdepasse passe mdp passwort passworter kennwort ' +
    'kennworter losungswort geheimnis geheim wachtwoord wachtwoorden losenord adgangskode kodeord passord salasana haslo ' +
    'hasla heslo hesla jelszo sifre parola parole parool slaptazodis lozinka sifra geslo sandi katasandi laluan ' +
    'katalaluan khau matkhau makhau пароль пароля парола лозинка шифра гасло сырсоз κωδικος συνθηματικο סיסמה סיסמא ' +
    'المرور السر سر عبور گذرواژه पासवरड पासवर्ड',
);
/** Written without spaces: whatever stands before them, the name ends in them. */
const UNSPACED =
  /(?:密码|密碼|口令|密钥|密鑰|令牌|パスワード|暗証番号|秘密鍵|비밀번호|패스워드|암호|รหัสผ่าน|पासवर्ड)$/u;
/** `key` alone is harmless (primary key, sort key); after one of these it opens something. */
const KEY_OWNERS = words(
  'api access private secret signing signature encryption decryption master account shared auth service ssh client ' +
    'webhook deploy bot app admin storage license recovery hmac aes rsa gpg pgp jwt consumer subscription root tls ssl ' +
    'crypto cipher wrapping backup session security integration sas vault unseal django rails flask cookie stripe openai ' +
    'anthropic aws azure gcp google gemini github gitlab sendgrid mailgun twilio algolia datadog sentry mapbox slack ' +
    'discord telegram publish server sk host functions pre preshared wifi',
);
/** `tokens` are mostly counted. */
const TOKEN_OWNERS = words(
  'access refresh auth api bearer id session secret bot user device csrf oauth personal github',
);
/** `backup_codes`, `security_code`. */
const CODE_OWNERS = words(
  'backup recovery verification security auth authorization authorisation otp mfa 2fa tfa time access pairing sms ' +
    'confirmation login unlock reset activation scratch emergency puk pin',
);
const PHRASE_OWNERS = words('seed recovery mnemonic secret backup wallet pass');
/** Tokens that mark a place in a list, a unit of text or a request in flight: nothing to hide. */
const HARMLESS_TOKEN =
  /(?:page|next|previous|continuation|sync|progress|cancel|cancellation|cursor|delta|start|end|eos|bos|pad|unk|mask|stop|special|max)token$/;
/** Words after the one that matters: `password_hash`, `secret_key_base`, `passwordConfirmation`. */
const TRAILING = words(
  'value hash text raw plain plaintext base64 b64 string base confirmation confirm confirmed repeat repeated again new ' +
    'old current encrypted encoded input',
);
/** These also name groups of settings that are not all secret: `auth: { kind, user, … }`. */
const LOOSE_GROUPS = words('auth session cookie cookies pass pin sid');

/** Most names hold none of these, and are let go before they are taken apart. */
const SUSPECT =
  /pass|pwd|pw|psk|secret|token|key|auth|cred|cookie|jwt|pat|pin|otp|cv[vcn]|csc|sid|sess|bearer|code|phrase|words|seed|mnemonic|conn|webhook|[cx]srf|sas|number|clave|senha|wort|wachtwoord|ord|salasana|hasl|hesl|jelszo|jelszó|[sş]ifr|parol|parool|lozinka|geslo|sandi|laluan|khau|mdp|geheim|contrase|kode|slapta|[^\x20-\x7e]/i;

const NUMBER_OWNERS = words('card cc creditcard debitcard');

/** Names come again and again; the answers to the latest are kept. */
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

/** Whether all that stands below such a name is secret, and not only a text right under it. */
export function isSecretGroup(name: string): boolean {
  return isSecretName(name) && !LOOSE_GROUPS.has(wordsOf(name).at(-1) ?? '');
}

/** `tavilyApiKey2` -> tavily, api, key; without the words that only follow the one that matters. */
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
