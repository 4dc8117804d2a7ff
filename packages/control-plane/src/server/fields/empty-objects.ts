import type { JsonObject } from '@bowline/machinery';
import type { ApiResource } from '../registry/api-resource.ts';

const NOTHING: JsonObject = {};
const POD_SPEC = { containers: null };
const TEMPLATE = { metadata: NOTHING, spec: POD_SPEC };

/**
 * The zero values of built-in kinds: the parts that the API server's own types always have. The creator of an object
 * does not own these parts, only their content. Kinds whose only such part is a spec are not listed.
 */
const EMPTY_OBJECTS: Readonly<Record<string, JsonObject>> = {
  'CertificateSigningRequest.certificates.k8s.io': { spec: { request: null } },
  'ClusterRoleBinding.rbac.authorization.k8s.io': { roleRef: NOTHING },
  'CronJob.batch': { spec: { jobTemplate: { metadata: NOTHING, spec: { template: TEMPLATE } } } },
  'CustomResourceDefinition.apiextensions.k8s.io': { spec: { names: NOTHING, versions: null } },
  'DaemonSet.apps': { spec: { selector: null, template: TEMPLATE, updateStrategy: NOTHING } },
  'Deployment.apps': { spec: { selector: null, strategy: NOTHING, template: TEMPLATE } },
  'EndpointSlice.discovery.k8s.io': { endpoints: null, ports: null },
  'Event.': {
    eventTime: null,
    firstTimestamp: null,
    involvedObject: NOTHING,
    lastTimestamp: null,
    reportingComponent: '',
    reportingInstance: '',
    source: NOTHING,
  },
  'Event.events.k8s.io': {
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    deprecatedSource: NOTHING,
    eventTime: null,
    regarding: NOTHING,
  },
  'HorizontalPodAutoscaler.autoscaling': { spec: { scaleTargetRef: NOTHING } },
  'Job.batch': { spec: { template: TEMPLATE } },
  'LimitRange.': { spec: { limits: null } },
  'NetworkPolicy.networking.k8s.io': { spec: { podSelector: NOTHING } },
  'PersistentVolumeClaim.': { spec: { resources: NOTHING } },
  'Pod.': { spec: POD_SPEC },
  'PodTemplate.': { template: TEMPLATE },
  'PriorityClass.scheduling.k8s.io': { value: 0 },
  'ReplicaSet.apps': { spec: { selector: null, template: TEMPLATE } },
  'RoleBinding.rbac.authorization.k8s.io': { roleRef: NOTHING },
  'StatefulSet.apps': { spec: { selector: null, template: TEMPLATE, updateStrategy: NOTHING } },
};

const SPEC_ONLY: JsonObject = { spec: NOTHING };

const known = new WeakMap<ApiResource, JsonObject>();

/** emptyObject returns the zero value of a kind. */
export function emptyObject(resource: ApiResource): JsonObject {
  let object = known.get(resource);
  if (!object) {
    object = makeEmpty(resource);
    known.set(resource, object);
  }
  return object;
}

function makeEmpty({ group, kind, schema, subresources }: ApiResource): JsonObject {
  // A custom resource has no zero values: omitted fields are absent.
  if (schema === undefined) return NOTHING;
  const content = EMPTY_OBJECTS[`${kind}.${group}`] ?? (schema.properties?.spec ? SPEC_ONLY : NOTHING);
  return subresources.has('status') ? { ...content, status: NOTHING } : content;
}

/**
 * withEmptyParts returns an object completed with the parts of its zero value; the same object if it has all of them.
 */
export function withEmptyParts(object: JsonObject, empty: JsonObject): JsonObject {
  let result = object;
  for (const name of Object.keys(empty)) {
    const part = empty[name];
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const completed = value === undefined ? part : isPart(value) && isPart(part) ? withEmptyParts(value, part) : value;
    if (completed === value) continue;
    if (result === object) result = { ...object };
    (result as Record<string, unknown>)[name] = completed;
  }
  return result;
}

function isPart(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
