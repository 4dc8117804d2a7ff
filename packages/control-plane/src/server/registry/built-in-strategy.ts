import type { Schema } from '@bowline/kubernetes/schemas';
import { isSameJson } from '@bowline/machinery';
import type { ApiResource, Draft, RowConditions, Strategy, Subresource, TableColumn } from './api-resource.ts';
import { decodeBuiltIn } from './decode-built-in.ts';

/** KindRules are what a built-in kind adds to what all have. */
export type KindRules = Partial<Omit<Strategy, 'decode' | 'countsGeneration'>> & {
  /** Whether the kind has a status that only `/status` writes. Defaults to false. */
  readonly hasStatus?: boolean | undefined;
  /** Whether a new object may come with its status. Defaults to false. */
  readonly comesWithStatus?: boolean | undefined;
  /**
   * Whether a change is one of what is wanted; false for kinds without generations. Defaults to changes of the spec for
   * kinds with spec and status, and to false for others.
   */
  readonly countsGeneration?: Strategy['countsGeneration'] | false;
  /** Columns of its tables besides the name. Defaults to the age. */
  readonly columns?: readonly TableColumn[] | undefined;
  /** What a table says of an object besides its cells. Defaults to nothing. */
  readonly rowConditions?: RowConditions | undefined;
  /** A state as this group shows it, where another group has another shape. Defaults to what is stored. */
  readonly viewOf?: ApiResource['viewOf'];
  /** What is said to everybody who uses a kind that is on its way out. */
  readonly deprecation?: string | undefined;
  /** What is special about its subresources, by name; made from the strategy of the whole. */
  readonly subresources?: Readonly<Record<string, (whole: Strategy) => Partial<Subresource>>> | undefined;
};

/** builtInStrategy is the strategy of a kind with the rules that are its own. */
export function builtInStrategy(kind: string, version: string, schema: Schema, rules: KindRules = {}): Strategy {
  const { hasStatus = false, comesWithStatus = false } = rules;
  const hasSpec = schema.properties?.spec !== undefined;
  return {
    decode: (value) => decodeBuiltIn(kind, version, schema, value),
    prepareForCreate(object, context) {
      if (hasStatus && !comesWithStatus) object.status = {};
      rules.prepareForCreate?.(object, context);
      // Of the status there is what there is before anybody says anything.
      if (hasStatus) rules.applyDefaults?.(object);
    },
    prepareForUpdate(object, old, context) {
      if (hasStatus) object.status = old.status;
      rules.prepareForUpdate?.(object, old, context);
    },
    applyDefaults(object) {
      // The API server's types have these parts always.
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
    tellsDeleted: rules.tellsDeleted,
  };
}

/** statusStrategy is the strategy of `/status` of a built-in kind: of what it is sent, status and metadata count. */
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

/** specChanged says whether an update wants something else. */
export function specChanged(object: Draft, old: Draft): boolean {
  return !isSameJson(object.spec, old.spec);
}
