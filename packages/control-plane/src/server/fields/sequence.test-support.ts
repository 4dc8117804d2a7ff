import type { JsonPatchOperation } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';

/** SequenceKind is a kind whose objects the sequences write. */
export type SequenceKind = 'ConfigMap' | 'PodTemplate' | 'Service' | 'Role' | 'Widget' | 'Free' | 'FreeV2';

/** Step is one write. `put` is a merge patch that the client itself applies to the object that it read. */
export type Step = {
  /** The field manager. */
  readonly as: string;
  readonly on?: 'status' | 'scale';
  /** Another version of the kind. */
  readonly of?: SequenceKind;
} & (
  | { readonly create: object }
  | { readonly put: object }
  | { readonly merge: object }
  | { readonly json: readonly JsonPatchOperation[] }
  /** apiVersion, kind and name are added, unless `bare`. */
  | { readonly apply: object; readonly force?: boolean; readonly bare?: boolean }
);

/** Sequence is a series of writes to one object. */
export interface Sequence {
  readonly name: string;
  readonly kind: SequenceKind;
  readonly steps: readonly Step[];
}

const text: StructuralSchema = { type: 'string' };
const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties });
const preserved = { 'x-kubernetes-preserve-unknown-fields': true } as const;

/** WIDGET uses every kind of ownership that a schema can specify. */
export const WIDGET: StructuralSchema = object({
  top: text,
  spec: object({
    size: { type: 'integer', default: 3 },
    replicas: { type: 'integer' },
    name: text,
    port: { 'x-kubernetes-int-or-string': true },
    free: { type: 'object', ...preserved },
    any: preserved,
    half: { ...object({ a: text, deep: object({ b: text }) }), ...preserved },
    embedded: { type: 'object', ...preserved, 'x-kubernetes-embedded-resource': true },
    bag: { type: 'object', additionalProperties: text },
    bags: { type: 'object', additionalProperties: object({ a: text, b: text }) },
    atomicMap: { ...object({ a: text, b: text }), 'x-kubernetes-map-type': 'atomic' },
    plain: { type: 'array', items: object({ a: text }) },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    numbers: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'l'],
      items: {
        ...object({ k: text, l: { type: 'integer', default: 1 }, v: text, w: object({ x: text, y: text }) }),
        required: ['k'],
      },
    },
    nullable: { ...object({ a: { ...text, nullable: true } }), nullable: true },
    deep: object({ a: object({ b: object({ c: text }) }) }),
  }),
  status: object({
    phase: text,
    replicas: { type: 'integer' },
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: { ...object({ type: text, status: text }), required: ['type'] },
    },
  }),
});

/** FREE specifies nothing about its objects. */
export const FREE: StructuralSchema = { type: 'object', ...preserved };
