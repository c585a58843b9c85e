/**
 * Keys and tokens that carry their issuer's mark. Each begins with a literal character, which is what keeps the
 * search for all of them linear: see `ISSUER_KEY`. The names are those of the issuers.
 */
const KEYS: readonly string[] = [
  // Code hosts, registries, build services
  'gh[pousr]_\\w{16,}', // GitHub
  'github_pat_\\w{16,}',
  'gl(?:pat|ptt|dt|rt|cbt|soat|imt|agent|ft|ffct|oas|wt)-[\\w-]{16,}', // GitLab
  'GR1348941[\\w-]{16,}',
  'npm_\\w{30,}',
  'pypi-[\\w-]{32,}',
  'rubygems_[0-9a-f]{32,}',
  'CLOJARS_\\w{40,}',
  'dckr_[po]at_[\\w-]{16,}', // Docker
  'CCIP(?:AT|RJ)_[\\w-]{20,}', // CircleCI
  'bk(?:ua|ct|at)_\\w{20,}', // Buildkite
  'sq[pua]_[0-9a-f]{32,}', // SonarQube
  'AKCp\\w{40,}', // Artifactory
  'cmVmd\\w{50,}',
  'ATATT3[\\w=-]{40,}', // Atlassian, Bitbucket, Trello
  'ATCTT3[\\w=-]{40,}',
  'ATBB\\w{20,}',
  'ATTA\\w{40,}',
  'sgp_\\w{30,}', // Sourcegraph
  'figd_[\\w-]{30,}',
  'lin_(?:api|oauth)_\\w{16,}',
  'PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}', // Postman
  'API-[A-Z0-9]{26,}', // Octopus Deploy
  'rdme_\\w{40,}',
  // Clouds
  'A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}', // AWS
  'ABSK[\\w+/=]{80,}',
  'AIza[\\w-]{30,}', // Google
  'ya29\\.[\\w-]{16,}',
  'GOCSPX-[\\w-]{16,}',
  '1//0[\\w-]{30,}',
  'do[opr]_v1_\\w{32,}', // DigitalOcean
  'HRKU-[\\w-]{30,}', // Heroku
  'LTAI[A-Za-z0-9]{12,}', // Alibaba
  'AKID[A-Za-z0-9]{28,}', // Tencent
  'hv[sbr]\\.[\\w-]{20,}', // Vault
  'pul-[0-9a-f]{32,}', // Pulumi
  'pscale_(?:tkn|pw|oauth)_[\\w.=-]{20,}',
  'dapi[0-9a-f]{32}(?:-\\d)?', // Databricks
  'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9]{30,}', // Doppler
  'dt0[a-z]\\d\\d\\.[A-Z0-9]{16,}\\.[A-Z0-9]{40,}', // Dynatrace
  'f[om]\\d[a-z]?_[\\w+/=,-]{40,}', // Fly.io
  'nfp_\\w{30,}', // Netlify
  'napi_\\w{30,}', // Neon
  'rnd_\\w{24,}', // Render
  'sbp_[0-9a-f]{32,}', // Supabase
  'sb_secret_[\\w-]{16,}',
  'sha256~[\\w-]{40,}', // OpenShift
  'tskey-[\\w-]{16,}', // Tailscale
  'v1\\.0-[0-9a-f]{20,}-[0-9a-f]{100,}', // Cloudflare
  'AGE-SECRET-KEY-1\\w{32,}',
  'ops_eyJ[\\w-]{40,}', // 1Password
  'A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}',
  // Models and their tools
  'sk-[\\w-]{16,}', // OpenAI, Anthropic, OpenRouter, DeepSeek
  'sk_[0-9a-f]{40,}', // ElevenLabs
  'hf_[A-Za-z0-9]{24,}',
  'api_org_[A-Za-z0-9]{24,}',
  'gsk_\\w{24,}', // Groq
  'xai-\\w{24,}',
  'r8_\\w{24,}', // Replicate
  'pplx-\\w{24,}',
  'tvly-[\\w-]{16,}',
  'fc-[0-9a-f]{32}', // Firecrawl
  'BSA[\\w-]{24,}', // Brave
  'jina_\\w{32,}',
  'apify_api_\\w{20,}',
  'bb_live_[\\w-]{20,}',
  'e2b_[0-9a-f]{32,}',
  'pcsk_\\w{32,}', // Pinecone
  'lsv2_(?:pt|sk)_\\w{20,}', // LangSmith
  // Money
  '[sr]k_(?:live|test)_\\w{10,}', // Stripe
  'whsec_[\\w+/=]{16,}',
  'sq0(?:atp|csp)-[\\w-]{20,}', // Square
  'EAAA[\\w-]{50,}',
  'rzp_(?:live|test)_\\w{10,}',
  'access-(?:sandbox|development|production)-[0-9a-f-]{30,}', // Plaid
  'access_token\\$(?:production|sandbox)\\$\\w{10,}\\$[0-9a-f]{20,}', // PayPal
  'FLWSECK(?:_TEST)?-[\\w-]{12,}',
  'EZ[AT]K\\w{40,}', // EasyPost
  'shippo_(?:live|test)_[0-9a-f]{32,}',
  'shp(?:at|ss|ca|pa)_\\w{24,}', // Shopify
  // People and messages
  'xox[a-z][.-][\\w.-]{8,}', // Slack
  'xapp-[\\w-]{8,}',
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}', // SendGrid
  'key-[0-9a-f]{32}', // Mailgun
  'xkeysib-[0-9a-f]{40,}-\\w{10,}',
  're_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,}', // Resend
  'AC[0-9a-f]{32}', // Twilio
  'SK[0-9a-f]{32}',
  'ntn_\\w{24,}', // Notion
  'secret_[A-Za-z0-9]{40,}',
  'pat[A-Za-z0-9]{14}\\.[0-9a-f]{60,}', // Airtable
  'pat-(?:na|eu|ap)\\d-[0-9a-f-]{30,}', // HubSpot
  'pk_\\d{4,12}_[A-Z0-9]{30,}', // ClickUp
  'CFPAT-[\\w-]{40,}', // Contentful
  'tfp_[\\w-]{40,}', // Typeform
  'EAA[A-Za-z0-9]{60,}', // Facebook
  'AAAAAAAAAAAAAAAAAAAA[\\w%]{60,}', // Twitter
  '00D[A-Za-z0-9]{12,15}![\\w.]{40,}', // Salesforce
  'y0_[\\w-]{30,}', // Yandex
  'AQVN[\\w-]{30,}',
  'sl\\.[\\w-]{60,}', // Dropbox
  // Watching over things
  'gls[ac]?_\\w{32,}', // Grafana
  'glc_[\\w+/=]{32,}',
  'eyJrIjoi\\w{50,}',
  'NRA[KAL]-[A-Z0-9]{24,}', // New Relic
  'NRII-[\\w-]{24,}',
  'sntry[su]_[\\w+/=-]{32,}', // Sentry
  // PML itself
  'pml_[0-9a-f]{32,}',
  // Hashes of passwords
  '\\$2[abxy]\\$\\d\\d\\$[./A-Za-z0-9]{53}',
  '\\$(?:argon2id|argon2i|argon2d|scrypt|pbkdf2-sha\\d{1,3})\\$[\\w$+/=,.-]{20,}',
  '\\$[1567y]\\$[\\w./$=-]{20,}',
];

/** Tried by their first character: most places in a text begin none of them. */
export const ISSUER_KEY = new RegExp(
  `(?<![A-Za-z0-9])(?:${[...Map.groupBy(KEYS, (key) => /^(?:\\.|\[[^\]]+\]|.)/.exec(key)![0])]
    .map(([first, keys]) => `${first}(?:${keys.map((key) => key.slice(first.length)).join('|')})`)
    .join('|')})`,
  'g',
);
