import { s } from '@bowline/runtime/resource';

/** config is the section `mock` of the operator's configuration. */
export const config = s
  .object({
    enabled: s
      .boolean()
      .default(false)
      .describe('Know the provider mock, whose secrets are in one Secret of the own namespace. For trying things out.'),
  })
  .default({});
