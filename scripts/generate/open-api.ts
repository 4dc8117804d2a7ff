/** SchemaNode is the part of an OpenAPI v3 schema that a Kubernetes API server writes for its built-in kinds. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly allOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly type?: 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';
  readonly format?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
}

/** GroupVersionKind names a kind. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Operation holds the kept part of one verb on one path. */
export interface Operation {
  readonly 'x-kubernetes-action'?: string;
  readonly 'x-kubernetes-group-version-kind'?: GroupVersionKind;
}

/** InputDocument is one normalized document: the content of `packages/kubernetes/openapi/<module>.json`. */
export interface InputDocument {
  /** `Kubernetes 1.35`: as the server writes it in the document, without the patch version. */
  readonly info: string;
  /** URL template → HTTP method → operation. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** Full definition name → schema. */
  readonly schemas: Readonly<Record<string, SchemaNode>>;
}

/** Inputs holds the documents by module name (`apps-v1`), and the version of the server that they were fetched from. */
export interface Inputs {
  /** The server's `gitVersion`: `v1.35.8`. */
  readonly version: string;
  readonly documents: ReadonlyMap<string, InputDocument>;
}

const REF_PREFIX = '#/components/schemas/';

/**
 * refTarget returns the definition that a node refers to, directly or as the only member of `allOf`; otherwise
 * undefined.
 */
export function refTarget(node: SchemaNode): string | undefined {
  if (node.allOf !== undefined && node.allOf.length !== 1) {
    throw new Error(
      `a schema combines ${node.allOf.length} schemas with allOf; the generator supports only allOf with one $ref`,
    );
  }
  const ref = node.$ref ?? node.allOf?.[0]?.$ref;
  if (ref === undefined) return undefined;
  if (!ref.startsWith(REF_PREFIX)) throw new Error(`$ref ${ref} does not start with ${REF_PREFIX}`);
  return ref.slice(REF_PREFIX.length);
}
