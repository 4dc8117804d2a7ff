import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';

/** Definition is a schema in a document. */
export type Definition = Record<string, unknown>;

/** Definitions holds the schemas of a document, by name. */
export type Definitions = Map<string, Definition>;

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const FIELDS = 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

/** Definitions of values that have more than one notation. */
const SCALARS: Readonly<Record<string, Definition>> = {
  [QUANTITY]: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  [INT_OR_STRING]: {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
};

/** Groups whose types are in other packages than most. */
const PACKAGES: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
};

/** definitionName returns the name in a document of the definition that a compact schema calls `core-v1.PodSpec`. */
export function definitionName(ref: string): string {
  const [module = '', name = ''] = ref.split('.', 2);
  const dash = module.lastIndexOf('-');
  const group = module.slice(0, dash);
  return `${PACKAGES[group] ?? `io.k8s.api.${group}`}.${module.slice(dash + 1)}.${name}`;
}

/** refTo returns a reference to another schema of the document. */
export function refTo(name: string): Definition {
  return { $ref: `#/components/schemas/${name}` };
}

/** addDefinition adds a built-in definition, with everything that it refers to, and returns its name. */
export function addDefinition(definitions: Definitions, ref: string): string {
  const name = definitionName(ref);
  if (definitions.has(name)) return name;
  const definition: Definition = {};
  // Set before its references are added: they may refer back.
  definitions.set(name, definition);
  Object.assign(definition, expanded(definitions, resolveSchema({ ref })));
  if (ref === 'meta-v1.ManagedFieldsEntry') nameFields(definitions, definition);
  return name;
}

/** FieldsV1 has a definition of its own, which compact schemas omit: every object with metadata refers to it. */
function nameFields(definitions: Definitions, definition: Definition): void {
  definitions.set(FIELDS, { type: 'object' });
  definition.properties = { ...(definition.properties as Definition), fieldsV1: refTo(FIELDS) };
}

function expanded(definitions: Definitions, schema: Schema): Definition {
  const { properties, additionalProperties, items, type, format, required, default: value } = schema;
  const result: Definition = {};
  const referred = referredName(definitions, schema);
  if (referred === undefined) {
    if (type !== undefined) result.type = type;
    if (format !== undefined) result.format = format;
  }
  if (value !== undefined) result.default = value;
  if (schema.enum) result.enum = schema.enum;
  if (required) result.required = required;
  if (properties)
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, expanded(definitions, each)]),
    );
  if (additionalProperties) result.additionalProperties = expanded(definitions, additionalProperties);
  if (items) result.items = expanded(definitions, items);
  if (schema.listMapKeys) result['x-kubernetes-list-map-keys'] = schema.listMapKeys;
  if (schema.listType) result['x-kubernetes-list-type'] = schema.listType;
  if (schema.mapType) result['x-kubernetes-map-type'] = schema.mapType;
  if (schema.patchMergeKey) result['x-kubernetes-patch-merge-key'] = schema.patchMergeKey;
  if (schema.patchStrategy) result['x-kubernetes-patch-strategy'] = schema.patchStrategy.join(',');
  if (referred === undefined) return result;
  // A reference cannot have siblings; other members wrap it.
  return Object.keys(result).length === 0 ? refTo(referred) : { ...result, allOf: [refTo(referred)] };
}

/** referredName returns the name of the definition that a schema refers to, and adds it if necessary. */
function referredName(definitions: Definitions, { ref, format, intOrString }: Schema): string | undefined {
  if (ref !== undefined) return addDefinition(definitions, ref);
  const name = format === 'quantity' ? QUANTITY : intOrString ? INT_OR_STRING : undefined;
  // Copied, because descriptions are added later.
  if (name !== undefined) definitions.set(name, { ...SCALARS[name] });
  return name;
}

/** mark sets the kind of a definition, which clients search for. */
export function mark(definition: Definition | undefined, group: string, version: string, kind: string): void {
  if (definition) definition['x-kubernetes-group-version-kind'] = [{ group, kind, version }];
}
