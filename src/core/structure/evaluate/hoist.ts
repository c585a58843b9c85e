import type { Function as FunctionNode, Statement } from 'oxc-parser';
import type { Analysis } from './analysis.ts';
import { declareAs } from './assign.ts';
import { NOTHING_KNOWN } from './value.ts';

/** Functions of a block can be called before they are written; other names are at least taken. */
export function hoist(a: Analysis, statements: readonly Statement[]): void {
  for (const statement of statements) {
    switch (statement.type) {
      case 'FunctionDeclaration':
        hoistFunction(a, statement);
        break;
      case 'ClassDeclaration':
      case 'TSEnumDeclaration':
        if (statement.id) a.declare(statement.id.name);
        break;
      case 'VariableDeclaration':
        if (statement.kind === 'var') break;
        for (const { id } of statement.declarations) if (id.type === 'Identifier') a.declare(id.name);
    }
  }
}

function hoistFunction(a: Analysis, node: FunctionNode): void {
  if (!node.id || !node.body) return;
  const fn = a.note({ kind: 'function', node, scope: a.scope, self: NOTHING_KNOWN });
  declareAs(a, node.id, fn, node.id);
}
