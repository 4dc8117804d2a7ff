import { s } from '@bowline/runtime/resource';

/** config is the section `mock` of the operator's configuration. */
export const config = s
  .object({
    enabled: s
      .boolean()
      .default(false)
      .describe(
        'Enable the provider mock, which stores its secrets in a Secret in the namespace of the operator. For evaluation only.',
      ),
  })
  .default({});
