import type { VariableDeclaration } from './compile-expression.ts';

const TEXT = { type: 'string' } as const;
const named = (last: string) => ({ type: 'object', properties: { group: TEXT, version: TEXT, [last]: TEXT } }) as const;

/**
 * admissionVariables declares the variables with which the API server evaluates the match conditions of webhooks: the
 * objects as received, the request without them, and an authorizer for the user that sent it.
 */
export const admissionVariables: Readonly<Record<string, VariableDeclaration>> = {
  object: 'dyn',
  oldObject: 'dyn',
  request: {
    type: 'object',
    properties: {
      kind: named('kind'),
      resource: named('resource'),
      subResource: TEXT,
      requestKind: named('kind'),
      requestResource: named('resource'),
      requestSubResource: TEXT,
      name: TEXT,
      namespace: TEXT,
      operation: TEXT,
      userInfo: {
        type: 'object',
        properties: {
          username: TEXT,
          uid: TEXT,
          groups: { type: 'array', items: TEXT },
          extra: { type: 'object', additionalProperties: { type: 'array', items: TEXT } },
        },
      },
      dryRun: { type: 'boolean' },
      // Of any type: each operation has its own options.
      options: { 'x-kubernetes-int-or-string': true },
    },
  },
  authorizer: 'authorizer',
};
