import type { Schema } from '@bowline/kubernetes/schemas';
import { isSameJson } from '@bowline/machinery';
import type { ApiResource, Draft, RowConditions, Strategy, Subresource, TableColumn } from './api-resource.ts';
import { decodeBuiltIn } from './decode-built-in.ts';

/** KindRules customizes the behavior that all built-in kinds share. */
export type KindRules = Partial<Omit<Strategy, 'decode' | 'countsGeneration'>> & {
  /** Whether the kind has a status that only `/status` writes. Defaults to false. */
  readonly hasStatus?: boolean | undefined;
  /** Whether a new object may be created with its status. Defaults to false. */
  readonly comesWithStatus?: boolean | undefined;
  /**
   * Whether a change affects the desired state; false for kinds without generations. Defaults to changes of the spec
   * for kinds with spec and status, and to false for others.
   */
  readonly countsGeneration?: Strategy['countsGeneration'] | false;
  /** Columns of its tables besides the name. Defaults to the age. */
  readonly columns?: readonly TableColumn[] | undefined;
  /** Returns the conditions of a table row. Defaults to none. */
  readonly rowConditions?: RowConditions | undefined;
  /**
   * Converts a stored object to the shape of this group, where another group has another shape. Defaults to the stored
   * shape.
   */
  readonly viewOf?: ApiResource['viewOf'];
  /** Warning that is returned to every client of a deprecated kind. */
  readonly deprecation?: string | undefined;
  /** Overrides of its subresources by name, each derived from the strategy of the whole object. */
  readonly subresources?: Readonly<Record<string, (whole: Strategy) => Partial<Subresource>>> | undefined;
};

/** builtInStrategy returns the strategy of a built-in kind with its own rules. */
export function builtInStrategy(kind: string, version: string, schema: Schema, rules: KindRules = {}): Strategy {
  const { hasStatus = false, comesWithStatus = false } = rules;
  const hasSpec = schema.properties?.spec !== undefined;
  return {
    decode: (value) => decodeBuiltIn(kind, version, schema, value),
    prepareForCreate(object, context) {
      if (hasStatus && !comesWithStatus) object.status = {};
      rules.prepareForCreate?.(object, context);
      // The status starts with its defaults.
      if (hasStatus) rules.applyDefaults?.(object);
    },
    prepareForUpdate(object, old, context) {
      if (hasStatus) object.status = old.status;
      rules.prepareForUpdate?.(object, old, context);
    },
    applyDefaults(object) {
      // The API server's types always have these fields.
      if (hasSpec) object.spec ??= {};
      if (hasStatus) object.status ??= {};
      rules.applyDefaults?.(object);
    },
    loadForValidate: rules.loadForValidate,
    validate: (object, old, context) => rules.validate?.(object, old, context) ?? [],
    countsGeneration: (rules.countsGeneration ?? (hasSpec && hasStatus && specChanged)) || undefined,
    gracePeriodSeconds: rules.gracePeriodSeconds,
    warningsOf: rules.warningsOf,
    prepareForDelete: rules.prepareForDelete,
    isKept: rules.isKept,
    allocate: rules.allocate,
    returnsDeletedObject: rules.returnsDeletedObject,
  };
}

/**
 * statusStrategy returns the strategy of `/status` of a built-in kind. It takes only status and metadata from the
 * request.
 */
export function statusStrategy(whole: Strategy, prepare?: Strategy['prepareForUpdate']): Strategy {
  return {
    decode: (value) => whole.decode(value),
    prepareForUpdate(object, old, context) {
      const { status, metadata } = object;
      for (const field of Object.keys(object)) if (field !== 'metadata') object[field] = undefined;
      Object.assign(object, structuredClone(old), { metadata, status });
      prepare?.(object, old, context);
    },
    applyDefaults: whole.applyDefaults,
    validate: (object, old, context) => whole.validate(object, old, context),
  };
}

/** specChanged reports whether an update changes the spec. */
export function specChanged(object: Draft, old: Draft): boolean {
  return !isSameJson(object.spec, old.spec);
}
