/** A page of the site: a Markdown file of the repository, and its address below `/docs`. */
export interface PageSource {
  readonly file: string;
  /** Without an ending; `''` and names that end in `/` are the first page of a folder. */
  readonly path: string;
}

interface Section {
  readonly title: string;
  readonly pages: readonly string[];
}

/** The order of the navigation. Every page of `docs/` is listed here; rules and decisions follow from their folders. */
export const SECTIONS: readonly Section[] = [
  { title: 'Start', pages: ['docs/README.md', 'docs/start.md', 'docs/connect.md', 'examples/README.md'] },
  {
    title: 'Guides',
    pages: [
      'docs/servers.md',
      'docs/configure.md',
      'docs/code.md',
      'docs/capabilities.md',
      'docs/workflows.md',
      'docs/suggest.md',
      'docs/dashboard.md',
      'docs/client.md',
      'docs/traces.md',
      'docs/operate.md',
      'docs/people.md',
      'docs/teams.md',
      'docs/telemetry.md',
    ],
  },
  {
    title: 'Concepts',
    pages: [
      'docs/concepts.md',
      'docs/tokens.md',
      'docs/learning.md',
      'docs/graph.md',
      'docs/procedures.md',
      'docs/embedding.md',
      'docs/learned-names.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'docs/reference/command-line.md',
      'docs/reference/api.md',
      'docs/spec/README.md',
      'docs/conformance.md',
    ],
  },
  {
    title: 'Benchmarks',
    pages: [
      'docs/benchmarks.md',
      'docs/compare.md',
      'docs/evaluation.md',
      'docs/ablation.md',
      'docs/growth.md',
      'docs/clients.md',
    ],
  },
  { title: 'Security', pages: ['docs/security.md', 'SECURITY.md'] },
  { title: 'Project', pages: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'] },
];

export function pathOf(file: string): string {
  // Its name is taken by the page about security.
  if (file === 'SECURITY.md') return 'security-policy';
  const inSite = file.startsWith('docs/') ? file.slice('docs/'.length) : file;
  const bare = inSite.replace(/\.md$/, '');
  if (bare === 'README' || bare.endsWith('/README')) return bare.slice(0, -'README'.length);
  return file.includes('/') ? bare : bare.toLowerCase();
}

/** The file of a page in the built site, with this ending. */
export function fileOf(path: string, ending: string): string {
  return `${path === '' || path.endsWith('/') ? `${path}index` : path}${ending}`;
}
