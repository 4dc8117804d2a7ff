import type { VariableDeclaration } from './compile-expression.ts';

const TEXT = { type: 'string' } as const;
const named = (last: string) => ({ type: 'object', properties: { group: TEXT, version: TEXT, [last]: TEXT } }) as const;

/**
 * admissionVariables are what the API server evaluates match conditions of webhooks with: the objects as they come, the request
 * without them, and what whoever sent it may do.
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
      // Of any type: each operation has options of its own.
      options: { 'x-kubernetes-int-or-string': true },
    },
  },
  authorizer: 'authorizer',
};
