import { expect, test } from 'vitest';
import { gatewayUri, parseGatewayUri, throughGateway, withGatewayView } from './resource-uri.ts';

test('[MCP-12] a URI leads back to its server and original URI, whatever it looks like', () => {
  for (const uri of [
    'file:///a b/c',
    'https://x.test/?q=pml://y/z',
    'urn:x',
    'bench://{name}/{+path}',
    'ui://a/b',
    'skill://a/SKILL.md',
  ]) {
    expect(parseGatewayUri(gatewayUri('my.server-1', uri))).toEqual({ server: 'my.server-1', uri });
  }
  const id = '0b5ff5e1-6c0f-4c5e-9a53-0c41c2d0b9a1';
  expect(parseGatewayUri(`pml://results/${id}`)).toEqual({ result: id });
  expect(parseGatewayUri('pml://results/file:///x')).toEqual({ server: 'results', uri: 'file:///x' });
  for (const uri of ['file:///a', 'pml://', 'pml://server', undefined]) {
    expect(() => parseGatewayUri(uri)).toThrow('pml://SERVER/URI');
  }
});

test('[MCP-12] links in content are rewritten, except web links', () => {
  const link = { type: 'resource_link', uri: 'file:///x', name: 'x' };
  expect(throughGateway('s', link)).toEqual({ ...link, uri: 'pml://s/file:///x' });
  const web = { type: 'resource_link', uri: 'https://x.test', name: 'x' };
  expect(throughGateway('s', web)).toBe(web);
  const text = { type: 'text', text: 'file:///x' };
  expect(throughGateway('s', text)).toBe(text);
});

test('[APP-1] the view of an app keeps its scheme, in both forms of its definition', () => {
  expect(gatewayUri('maps', 'ui://view/index.html')).toBe('ui://maps/view/index.html');
  const ui = { resourceUri: 'ui://view', visibility: ['app'] };
  const listed = { name: 'show', _meta: { ui, 'ui/resourceUri': 'ui://view', other: 1 } };
  expect(withGatewayView('maps', listed)).toEqual({
    name: 'show',
    _meta: { ui: { ...ui, resourceUri: 'ui://maps/view' }, 'ui/resourceUri': 'ui://maps/view', other: 1 },
  });
  for (const plain of [{ name: 'x' }, { name: 'x', _meta: { ui: { csp: {} } } }, { name: 'x', _meta: {} }]) {
    expect(withGatewayView('maps', plain)).toBe(plain);
  }
});
