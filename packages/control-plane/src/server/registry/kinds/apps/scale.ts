import type { LabelSelector } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { labelSelector } from '@bowline/machinery';
import type { Draft, Projection } from '../../api-resource.ts';
import { decodeBuiltIn } from '../../decode-built-in.ts';
import type { Loose } from '../shared/loose.ts';
import { notNegative } from '../shared/problems.ts';

/** ScaleParts defines where an object keeps the values of its Scale. */
export interface ScaleParts {
  wanted(object: Draft): number;
  want(object: Draft, replicas: number): void;
  there(object: Draft): number;
  /** The selector of its pods as text. */
  selector(object: Draft): string;
}

interface Workload {
  spec?: { replicas?: number; selector?: LabelSelector };
  status?: { replicas?: number };
}

const WORKLOAD: ScaleParts = {
  wanted: (object) => (object as Workload).spec?.replicas ?? 0,
  want(object, replicas) {
    const { spec } = object as Workload;
    if (spec) spec.replicas = replicas;
  },
  there: (object) => (object as Workload).status?.replicas ?? 0,
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
    show(object) {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const wanted = parts.wanted(object);
      const selector = parts.selector(object);
      return {
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: wanted === 0 ? {} : { replicas: wanted },
        status: { replicas: parts.there(object), ...(selector === '' ? {} : { selector }) },
      };
    },
    take(object, scale) {
      parts.want(object, replicasOf(scale) ?? 0);
    },
  };
}

function replicasOf(scale: Draft): number | undefined {
  return (scale as Loose<{ spec: { replicas: number } }>).spec?.replicas;
}
