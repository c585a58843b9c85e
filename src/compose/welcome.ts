/** What the address shows in a browser until there is a dashboard. */
export function welcome(version: string, inventory: string, url: string): string {
  return `PML ${version} is running.

Attached: ${inventory}

Connect a client
  Claude, Cursor, VS Code, Codex   pml init
  any other, over stdio            { "command": "pml", "args": ["stdio"] }
  any other, over HTTP             ${url}/mcp, with the token from the data folder as bearer

Look around
  ${url}/api/servers           the servers and what they are doing
  ${url}/api/search?q=read+a+file   tools by what they do
  ${url}/api/traces            what was run
  ${url}/api/runs              what waits for your decision
  ${url}/api/stats             how many schema tokens your client is spared

The dashboard comes with a later version.
`;
}
