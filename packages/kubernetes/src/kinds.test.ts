import { describe, expect, expectTypeOf, it } from 'vitest';
import * as autoscalingV1 from './generated/autoscaling-v1.ts';
import * as eventsV1 from './generated/events-v1.ts';
import * as entry from './index.ts';
import {
  apiVersionOf,
  ClusterRole,
  type Condition,
  ConfigMap,
  type Container,
  CustomResourceDefinition,
  Deployment,
  Event,
  HorizontalPodAutoscaler,
  type JSONSchemaProps,
  type KubernetesObject,
  Lease,
  Namespace,
  type ObjectMeta,
  type ObjectOf,
  type OwnerReference,
  Pod,
  type Resource,
  type Scope,
  Secret,
  type ServicePort,
  SubjectAccessReview,
  ValidatingAdmissionPolicy,
} from './index.ts';

describe('kinds', () => {
  it.each<[Resource, string, string, Scope, string]>([
    [ConfigMap, 'v1', 'configmaps', 'Namespaced', 'ConfigMap.v1.'],
    [Secret, 'v1', 'secrets', 'Namespaced', 'Secret.v1.'],
    [Namespace, 'v1', 'namespaces', 'Cluster', 'Namespace.v1.'],
    [Pod, 'v1', 'pods', 'Namespaced', 'Pod.v1.'],
    [Lease, 'coordination.k8s.io/v1', 'leases', 'Namespaced', 'Lease.v1.coordination.k8s.io'],
    [Deployment, 'apps/v1', 'deployments', 'Namespaced', 'Deployment.v1.apps'],
    [
      ClusterRole,
      'rbac.authorization.k8s.io/v1',
      'clusterroles',
      'Cluster',
      'ClusterRole.v1.rbac.authorization.k8s.io',
    ],
    [
      CustomResourceDefinition,
      'apiextensions.k8s.io/v1',
      'customresourcedefinitions',
      'Cluster',
      'CustomResourceDefinition.v1.apiextensions.k8s.io',
    ],
    [
      ValidatingAdmissionPolicy,
      'admissionregistration.k8s.io/v1',
      'validatingadmissionpolicies',
      'Cluster',
      'ValidatingAdmissionPolicy.v1.admissionregistration.k8s.io',
    ],
    // Kinds that support only create are kinds too.
    [
      SubjectAccessReview,
      'authorization.k8s.io/v1',
      'subjectaccessreviews',
      'Cluster',
      'SubjectAccessReview.v1.authorization.k8s.io',
    ],
  ])('%o has the names that the API server uses', (resource, apiVersion, plural, scope, id) => {
    expect(apiVersionOf(resource)).toBe(apiVersion);
    expect(resource).toMatchObject({ plural, scope, id });
  });

  it('have unique ids', () => {
    const resources = Object.values(entry).filter((value) => typeof value === 'object');
    const ids = resources.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(50);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { kind, version, group, id } of resources) expect(id).toBe(`${kind}.${version}.${group}`);
  });

  it('are frozen', () => {
    expect(Object.isFrozen(ConfigMap)).toBe(true);
  });

  it('that exist in several groups are exported under their plain name from the most used group', () => {
    expect(Event.group).toBe('');
    expect(eventsV1.Event.group).toBe('events.k8s.io');
    expect(HorizontalPodAutoscaler.version).toBe('v2');
    expect(autoscalingV1.HorizontalPodAutoscaler.version).toBe('v1');
  });
});

describe('types', () => {
  it('follow from the resource', () => {
    expectTypeOf<ObjectOf<typeof ConfigMap>>().toEqualTypeOf<ConfigMap>();
    expectTypeOf(Pod).toEqualTypeOf<Resource<Pod, 'Pod.v1.'>>();
    expectTypeOf<ConfigMap>().toExtend<KubernetesObject>();
    expectTypeOf<Deployment>().toExtend<KubernetesObject>();
    expectTypeOf<Event>().toExtend<KubernetesObject>();
    expectTypeOf<typeof ConfigMap>().not.toExtend<typeof Secret>();
  });

  it('are readonly plain JSON', () => {
    expectTypeOf<ConfigMap['data']>().toEqualTypeOf<{ readonly [key: string]: string } | undefined>();
    expectTypeOf<ObjectMeta['finalizers']>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<ObjectMeta['creationTimestamp']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Pick<ObjectMeta, 'name'>>().toEqualTypeOf<{ readonly name?: string | undefined }>();
  });

  it('distinguish required and optional fields', () => {
    expectTypeOf<OwnerReference['uid']>().toEqualTypeOf<string>();
    expectTypeOf<Condition['observedGeneration']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Container['name']>().toEqualTypeOf<string>();
  });

  it('cover enums, int-or-string and quantities', () => {
    expectTypeOf<ServicePort['protocol']>().toEqualTypeOf<'SCTP' | 'TCP' | 'UDP' | undefined>();
    expectTypeOf<ServicePort['targetPort']>().toEqualTypeOf<number | string | undefined>();
    expectTypeOf<NonNullable<Container['resources']>['limits']>().toEqualTypeOf<
      { readonly [key: string]: string } | undefined
    >();
  });

  it('cover the unions that the server serializes with custom code', () => {
    expectTypeOf<JSONSchemaProps['additionalProperties']>().toEqualTypeOf<JSONSchemaProps | boolean | undefined>();
    expectTypeOf<JSONSchemaProps['default']>().toEqualTypeOf<unknown>();
  });
});
