import type { CallExpression, ChainExpression, Expression, MemberExpression } from 'oxc-parser';
import type { ChainPlace } from './analysis.ts';

/** One `.name`, `[key]` or `(args)` of a chain; the innermost is evaluated first. */
export type Link = MemberExpression | CallExpression;

/** The links of `a?.b(c).d`, the first to be evaluated first. */
export function linksOf(chain: ChainExpression): Link[] {
  const links: Link[] = [];
  let node: Expression = chain.expression;
  while (true) {
    if (node.type === 'TSNonNullExpression') node = node.expression;
    else if (node.type === 'MemberExpression') {
      links.push(node);
      node = node.object;
    } else if (node.type === 'CallExpression') {
      links.push(node);
      node = node.callee;
    } else return links.reverse();
  }
}

/**
 * Remembers of each call which chain it stands in. Behind `a.b?.()` a chain cannot be taken apart: the
 * call needs both `a` and `a.b`.
 */
export function noteChain(
  chains: Map<CallExpression, ChainPlace>,
  chain: ChainExpression,
  isWholeFixed = false,
): void {
  let isFixed = isWholeFixed;
  for (const link of linksOf(chain)) {
    if (link.type !== 'CallExpression') continue;
    isFixed ||= link.optional && link.callee.type !== 'Identifier';
    if (!chains.has(link)) chains.set(link, { chain, isFixed });
  }
}
