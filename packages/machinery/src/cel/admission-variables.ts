import type { VariableDeclaration } from './environment.ts';

const TEXT = { type: 'string' } as const;
const TIME = { type: 'string', format: 'date-time' } as const;
const INTEGER = { type: 'integer' } as const;
const TEXTS = { type: 'array', items: TEXT } as const;
const TEXT_MAP = { type: 'object', additionalProperties: TEXT } as const;
const named = (last: string) => ({ type: 'object', properties: { group: TEXT, version: TEXT, [last]: TEXT } }) as const;

/** The fields of a Namespace that expressions may read, with the spelling of the API server. */
const NAMESPACE = {
  type: 'object',
  nullable: true,
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: TEXT,
        generateName: TEXT,
        namespace: TEXT,
        labels: TEXT_MAP,
        annotations: TEXT_MAP,
        UID: TEXT,
        creationTimestamp: TIME,
        deletionGracePeriodSeconds: INTEGER,
        deletionTimestamp: TIME,
        generation: INTEGER,
        resourceVersion: TEXT,
        finalizers: TEXTS,
      },
    },
    spec: { type: 'object', properties: { finalizers: TEXTS } },
    status: {
      type: 'object',
      properties: {
        phase: TEXT,
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            properties: { type: TEXT, status: TEXT, reason: TEXT, message: TEXT, lastTransitionTime: TIME },
          },
        },
      },
    },
  },
} as const;

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
          groups: TEXTS,
          extra: { type: 'object', additionalProperties: TEXTS },
        },
      },
      dryRun: { type: 'boolean' },
      // Of any type: each operation has its own options.
      options: { 'x-kubernetes-int-or-string': true },
    },
  },
  authorizer: 'authorizer',
};

/**
 * policyVariables declares the variables of the expressions of admission policies: also the namespace of the object,
 * which is null for cluster-scoped objects. The API server declares it for match conditions too, but never sets it.
 */
export const policyVariables: Readonly<Record<string, VariableDeclaration>> = {
  ...admissionVariables,
  namespaceObject: NAMESPACE,
};
