import type { Span } from './text-search.ts';

/**
 * Keys and tokens that carry their issuer's mark, which is tried where a word begins and nowhere else. What follows
 * the mark cannot hold it again, or is part of the key. The names are those of the issuers.
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
  // Models and their tools
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
  // Money
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
  // People and messages
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
  // Watching over things
  /gls[ac]?_\w{32,}/y, // Grafana
  /glc_[\w+/=]{32,}/y,
  /eyJrIjoi\w{50,}/y,
  /NRA[KAL]-[A-Z0-9]{24,}/y, // New Relic
  /NRII-[\w-]{24,}/y,
  /sntry[su]_[\w+/=-]{32,}/y, // Sentry
  // PML itself
  /pml_[0-9a-f]{32,}/y,
  // Hashes of passwords
  /\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}/y,
  /\$(?:argon2id|argon2i|argon2d|scrypt|pbkdf2-sha\d{1,3})\$[\w$+/=,.-]{20,}/y,
  /\$[1567y]\$[\w./$=-]{20,}/y,
];

/** By the code unit they begin with: most places in a text begin none of them. */
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
