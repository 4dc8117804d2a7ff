import { s } from '@bowline/runtime/resource';

/** config is the operator's section of the configuration. */
export const config = s.object({
  trustAllAuthors: s
    .boolean()
    .default(false)
    .describe(
      'Obey every ConfigMapSync, also where no webhook has reviewed that its author may read the source and write the copies.',
    ),
  maxWritesInFlight: s
    .integer()
    .min(8)
    .max(64)
    .default(32)
    .describe('How many copies of one ConfigMapSync are written at the same time.'),
  perObjectMetrics: s
    .boolean()
    .default(false)
    .describe('Label metrics with namespace and name of each ConfigMapSync. Every one of them adds series.'),
});
