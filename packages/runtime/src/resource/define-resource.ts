import { apiVersionOf } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import {
  type AnySchema,
  applyDefaults,
  ObjectSchema,
  pluralOf,
  type ResourceDefinition,
  type ResourceNames,
  renderCustomResourceDefinition,
  resourceSchema,
  s,
  unknownFields,
  type VersionDefinition,
  validateObject,
} from '@bowline/machinery/schema';
import { BowlineError } from '../errors/bowline-error.ts';
import type { CustomResource, ReadObject, WrittenObject } from './custom-resource.ts';

/** ResourceOptions defines a kind. */
export interface ResourceOptions<
  Group extends string,
  Version extends string,
  Kind extends string,
  Spec extends AnySchema | undefined,
  Status extends AnySchema | undefined,
> extends ResourceNames,
    VersionDefinition {
  readonly group: Group;
  readonly version: Version;
  readonly kind: Kind;
  /** Defaults to none: objects of the kind have no spec. */
  readonly spec?: Spec;
  /**
   * Adds a status subresource to the kind. `observedGeneration` and `conditions` are added: the runtime maintains them.
   * Defaults to none.
   */
  readonly status?: Status;
  /**
   * Other versions of the CRD, for example older ones. Objects are converted by changing only their apiVersion. Either
   * all versions have a status or none. Defaults to none.
   */
  readonly otherVersions?: readonly VersionDefinition[] | undefined;
}

/**
 * defineResource creates a kind from its schema: the value is used like a built-in kind and carries the
 * CustomResourceDefinition, the validator and the defaults. Definitions that the API server would reject are rejected
 * here, including rules and patterns.
 *
 * @example
 * export const Site = defineResource({
 *   group: 'example.com',
 *   version: 'v1',
 *   kind: 'Site',
 *   scope: 'Namespaced',
 *   spec: s.object({ title: s.string(), replicas: s.integer().min(1).default(1) }),
 *   status: s.object({ url: s.string().optional() }),
 *   columns: [{ name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' }],
 * });
 */
export function defineResource<
  const Group extends string,
  const Version extends string,
  const Kind extends string,
  Spec extends AnySchema | undefined = undefined,
  Status extends AnySchema | undefined = undefined,
>(
  options: ResourceOptions<Group, Version, Kind, Spec, Status>,
): CustomResource<ReadObject<Spec, Status>, WrittenObject<Spec>, `${Kind}.${Version}.${Group}`> {
  const { otherVersions = [], ...single } = options;
  const own = withKindStatus<ResourceNames & VersionDefinition>(single);
  const { group, version, kind, scope } = options;
  // Every version gets them: when the API server converts an object, it drops fields that the target version does not
  // define.
  const others = otherVersions.map(withKindStatus);
  checkStatuses(options, [own, ...others]);
  const definition: ResourceDefinition = others.length === 0 ? own : { ...namesOf(own), versions: [own, ...others] };
  const crd = renderCustomResourceDefinition(definition);
  const schema = resourceSchema(own);
  const typed = (object: unknown): object => ({ apiVersion: apiVersionOf(options), kind, ...(object as object) });
  return Object.freeze({
    group,
    version,
    kind,
    plural: pluralOf(options),
    scope,
    id: `${kind}.${version}.${group}` as const,
    definition,
    crd,
    schema,
    hasStatus: own.status !== undefined,
    validate: (object: unknown, { oldObject }: { readonly oldObject?: unknown } = {}): readonly FieldProblem[] =>
      validateObject(typed(object), schema, { oldObject: oldObject === undefined ? undefined : typed(oldObject) }),
    unknownFields: (object: unknown): readonly string[] => unknownFields(object, schema, { isResource: true }),
    // The schema's defaults are the difference between the two types.
    withDefaults: (object: WrittenObject<Spec>) => applyDefaults(typed(object), schema) as ReadObject<Spec, Status>,
  });
}

function namesOf(definition: ResourceNames): ResourceNames {
  const { group, kind, scope, plural, singular, shortNames, categories, annotations, labels } = definition;
  return { group, kind, scope, plural, singular, shortNames, categories, annotations, labels };
}

/**
 * withKindStatus returns a version whose status has the fields that the runtime maintains, unless the schema defines
 * them itself.
 */
function withKindStatus<V extends VersionDefinition>(version: V): V {
  const { status } = version;
  // A status that is not an object is rejected with the rest of the definition.
  if (status?.json.type !== 'object') return version;
  const observedGeneration = s
    .integer()
    .min(0)
    .describe('The most recent generation of the object that the status describes.').json;
  const conditions = s.conditions().describe('The latest observations of the state of the object, one per type.').json;
  const properties = Object.freeze({ observedGeneration, conditions, ...status.json.properties });
  return { ...version, status: new ObjectSchema({ ...status.json, properties }, status.isOptional) };
}

/** A status that is not in every version would be lost whenever an object is written in a version that lacks it. */
function checkStatuses({ group, kind }: ResourceNames, versions: readonly VersionDefinition[]): void {
  const having = versions.find(({ status }) => status !== undefined);
  const lacking = versions.find(({ status }) => status === undefined);
  if (!having || !lacking) return;
  throw new BowlineError(
    'BOWLINE_CRD_INVALID',
    `cannot define the kind ${kind} of ${group}: version ${lacking.version} has no status but ${having.version} has one, which every write in ${lacking.version} would drop; define a status in all versions`,
  );
}
