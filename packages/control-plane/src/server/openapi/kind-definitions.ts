import type { ApiResource } from '../registry/api-resource.ts';
import { addDefinition, type Definition, type Definitions, mark, refTo } from './definitions.ts';

const API_VERSION = { description: 'The group and version of the kind.', type: 'string' };
const KIND = { description: 'The kind of the object.', type: 'string' };

/** KindNames are how a document calls a kind and its list. */
export interface KindNames {
  readonly kind: string;
  readonly list: string;
}

/** addKind adds the definitions of a resource: its kind and the list of it, marked as what they are. */
export function addKind(definitions: Definitions, resource: ApiResource): KindNames {
  return resource.structuralSchema ? addCustomKind(definitions, resource) : addBuiltInKind(definitions, resource);
}

function addBuiltInKind(definitions: Definitions, { group, version, kind, listKind, verbs }: ApiResource): KindNames {
  const module = `${group === '' ? 'core' : group.split('.', 1)[0]}-${version}`;
  const add = (name: string): string => {
    const added = addDefinition(definitions, `${module}.${name}`);
    mark(definitions.get(added), group, version, name);
    return added;
  };
  const own = add(kind);
  return { kind: own, list: verbs.includes('list') ? add(listKind) : own };
}

function addCustomKind(definitions: Definitions, resource: ApiResource): KindNames {
  const { group, version, kind, listKind, structuralSchema, selectableFields, resource: plural } = resource;
  const prefix = `${group.split('.').reverse().join('.')}.${version}`;
  const names = { kind: `${prefix}.${kind}`, list: `${prefix}.${listKind}` };
  const meta = (name: string, description: string): Definition => ({
    description,
    allOf: [refTo(addDefinition(definitions, `meta-v1.${name}`))],
  });
  const own: Definition = {
    ...structuralSchema,
    properties: {
      ...structuralSchema?.properties,
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: meta('ObjectMeta', 'What every object has.'),
    },
  };
  const list: Definition = {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: API_VERSION,
      items: { description: `List of ${plural}.`, type: 'array', items: refTo(names.kind) },
      kind: KIND,
      metadata: meta('ListMeta', 'What every list has.'),
    },
  };
  mark(own, group, version, kind);
  mark(list, group, version, listKind);
  if (selectableFields.size > 0) {
    const fields = [...selectableFields.keys()].map((fieldPath) => ({ fieldPath }));
    own['x-kubernetes-selectable-fields'] = fields;
    list['x-kubernetes-selectable-fields'] = fields;
  }
  definitions.set(names.kind, own);
  definitions.set(names.list, list);
  return names;
}
