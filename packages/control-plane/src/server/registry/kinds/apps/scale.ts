import type { LabelSelector } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { labelSelector } from '@bowline/machinery';
import type { Draft, Projection } from '../../api-resource.ts';
import { decodeBuiltIn } from '../../decode-built-in.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { notNegative } from '../shared/problems.ts';

/** ScaleParts defines where an object keeps the values of its Scale. */
export interface ScaleParts {
  desiredReplicas(object: Draft): number;
  setDesiredReplicas(object: Draft, replicas: number): void;
  currentReplicas(object: Draft): number;
  /** The selector of its pods as text. */
  selector(object: Draft): string;
}

interface Workload {
  spec?: { replicas?: number; selector?: LabelSelector };
  status?: { replicas?: number };
}

const WORKLOAD: ScaleParts = {
  desiredReplicas: (object) => (object as Workload).spec?.replicas ?? 0,
  setDesiredReplicas(object, replicas) {
    const { spec } = object as Workload;
    if (spec) spec.replicas = replicas;
  },
  currentReplicas: (object) => (object as Workload).status?.replicas ?? 0,
  selector(object) {
    const selector = (object as Workload).spec?.selector;
    return selector ? labelSelector(selector).toString() : '';
  },
};

/** scaleProjection presents an object as a Scale: the desired replicas, the actual replicas, and their selector. */
export function scaleProjection(parts: ScaleParts = WORKLOAD): Projection {
  const [group, version, kind] = ['autoscaling', 'v1', 'Scale'] as const;
  const schema = schemaFor(`${group}/${version}`, kind);
  if (!schema) throw new TypeError('no schema is known for Scale');
  return {
    group,
    version,
    kind,
    schema,
    strategy: {
      decode: (value) => decodeBuiltIn(kind, version, schema, value),
      validate: (scale) => notNegative('spec.replicas', replicasOf(scale)),
    },
    project(object) {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const desiredReplicas = parts.desiredReplicas(object);
      const selector = parts.selector(object);
      return {
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: desiredReplicas === 0 ? {} : { replicas: desiredReplicas },
        status: { replicas: parts.currentReplicas(object), ...(selector === '' ? {} : { selector }) },
      };
    },
    applyTo(object, scale) {
      parts.setDesiredReplicas(object, replicasOf(scale) ?? 0);
    },
  };
}

function replicasOf(scale: Draft): number | undefined {
  return (scale as PartialObject<{ spec: { replicas: number } }>).spec?.replicas;
}
