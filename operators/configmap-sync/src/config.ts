import { s } from '@bowline/runtime/resource';

/** config is the operator's section of the configuration. */
export const config = s.object({
  trustAllAuthors: s
    .boolean()
    .default(false)
    .describe(
      'Reconcile every ConfigMapSync, even if no webhook has reviewed whether its author has permission to read the source and write the copies.',
    ),
  maxWritesInFlight: s
    .integer()
    .min(8)
    .max(64)
    .default(32)
    .describe('The maximum number of copies of one ConfigMapSync that are written concurrently.'),
  perObjectMetrics: s
    .boolean()
    .default(false)
    .describe('Label metrics with the namespace and name of each ConfigMapSync. Each ConfigMapSync adds series.'),
});
