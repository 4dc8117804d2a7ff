import { s } from '@bowline/runtime/resource';

const globs = (limit: number) => s.array(s.string().minLength(1).maxLength(limit)).minItems(1).maxItems(256);

const rule = s.object({
  namespaces: globs(253).describe('Globs of the namespaces whose pods may read the paths.'),
  provider: s.string().minLength(1).maxLength(63).describe('The name of the provider.'),
  paths: globs(2_048).describe('Globs of the paths that the pods may read. `*` does not match a slash, `**` does.'),
  role: s
    .string()
    .minLength(1)
    .maxLength(2_048)
    .describe(
      'The role to read with, unless the annotation specifies another. Defaults to the identity configured for the provider.',
    )
    .optional(),
  roles: globs(2_048).describe('Globs of the roles that an annotation may specify. Defaults to none.').optional(),
  regions: globs(63).describe('Globs of the regions that an annotation may specify. Defaults to none.').optional(),
});

/** policyFields are the fields of the operator's configuration that define which pods may read which secrets. */
export const policyFields = {
  allowAllPaths: s
    .boolean()
    .default(false)
    .describe(
      'Without a policy, allow every pod to read every secret that the operator can read. Has no effect if a policy is set.',
    ),
  permittedPathsRequired: s
    .boolean()
    .default(false)
    .describe('Deny requests from namespaces without the annotation jasm.codnod.io/permitted-paths.'),
  policy: s
    .array(rule)
    .maxItems(1_024)
    .describe('The rules that define which pods may read which secrets. A request that no rule allows is denied.')
    .optional(),
};

/** policyRule validates these fields together: the configuration must define which pods may read which secrets. */
export const policyRule = {
  rule: 'has(self.policy) || self.allowAllPaths',
  message:
    'without a policy, every user who may create a pod could read every secret that the operator can read; define rules in jasm.policy, or allow everything with --allow-all-paths',
  fieldPath: '.policy',
} as const;
