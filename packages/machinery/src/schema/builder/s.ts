import {
  array,
  boolean,
  dateTime,
  dnsLabel,
  dnsSubdomain,
  duration,
  embedded,
  enumeration,
  integer,
  intOrString,
  map,
  number,
  object,
  quantity,
  string,
  unknown,
  unknownObject,
} from './primitives.ts';
import { conditions, labelSelector } from './well-known.ts';

/**
 * s builds structural schemas. Fields are required unless they have `.optional()` or `.default(…)`.
 *
 * @example
 * const Spec = s.object({
 *   replicas: s.integer().min(1).max(5).default(1),
 *   policy: s.enum(['Delete', 'Orphan']).default('Delete'),
 *   targets: s
 *     .array(s.object({ namespace: s.string().format('k8s-short-name'), name: s.string().default('') }))
 *     .maxItems(256)
 *     .listMapBy('namespace', 'name'),
 * });
 * type Spec = Read<typeof Spec>;
 */
export const s = {
  object,
  string,
  integer,
  number,
  boolean,
  array,
  map,
  enum: enumeration,
  intOrString,
  quantity,
  duration,
  dateTime,
  dnsLabel,
  dnsSubdomain,
  labelSelector,
  conditions,
  embedded,
  unknown,
  unknownObject,
} as const;
