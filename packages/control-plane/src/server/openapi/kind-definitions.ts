import type { ApiResource } from '../registry/api-resource.ts';
import { addDefinition, type Definition, type Definitions, mark, refTo } from './definitions.ts';
import { type Descriptions, describeFields, NO_DESCRIPTIONS } from './descriptions.ts';

/** A built-in kind and its list, whose common fields have the descriptions that all kinds use. */
const ANY_KIND = 'io.k8s.api.core.v1.ConfigMap';
const ANY_LIST = 'io.k8s.api.core.v1.ConfigMapList';

/** KindNames holds the names of a kind and of its list in a document. */
export interface KindNames {
  readonly kind: string;
  readonly list: string;
}

/** addKind adds the definitions of a resource: its kind and its list, marked with their kinds. */
export function addKind(definitions: Definitions, resource: ApiResource, descriptions = NO_DESCRIPTIONS): KindNames {
  if (!resource.structuralSchema) return addBuiltInKind(definitions, resource);
  return addCustomKind(definitions, resource, descriptions);
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

function addCustomKind(definitions: Definitions, resource: ApiResource, descriptions: Descriptions): KindNames {
  const { group, version, kind, listKind, structuralSchema, selectableFields, resource: plural } = resource;
  const prefix = `${group.split('.').reverse().join('.')}.${version}`;
  const names = { kind: `${prefix}.${kind}`, list: `${prefix}.${listKind}` };
  const common = (like: string, meta: string): Record<string, Definition> => {
    const fields: Record<string, Definition> = {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: refTo(addDefinition(definitions, `meta-v1.${meta}`)),
    };
    describeFields(fields, descriptions.get(like));
    return fields;
  };
  const own: Definition = {
    ...structuralSchema,
    properties: { ...structuralSchema?.properties, ...common(ANY_KIND, 'ObjectMeta') },
  };
  const list: Definition = {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...common(ANY_LIST, 'ListMeta'),
      items: { description: `List of ${plural}.`, type: 'array', items: refTo(names.kind) },
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
