import { s } from '@bowline/runtime/resource';

const globs = (most: number) => s.array(s.string().minLength(1).maxLength(most)).minItems(1).maxItems(256);

const rule = s.object({
  namespaces: globs(253).describe('Globs of the namespaces whose pods may read.'),
  provider: s.string().minLength(1).maxLength(63).describe('The provider, by its name.'),
  paths: globs(2_048).describe('Globs of the paths that they may read. `*` stops at a slash, `**` does not.'),
  role: s
    .string()
    .minLength(1)
    .maxLength(2_048)
    .describe("The role to read with unless the annotation names another. Defaults to the provider's own.")
    .optional(),
  roles: globs(2_048).describe('Globs of the roles that an annotation may name. Defaults to none.').optional(),
  regions: globs(63).describe('Globs of the regions that an annotation may name. Defaults to none.').optional(),
});

/** policyFields are the fields of the operator's configuration that define which pods may read which secrets. */
export const policyFields = {
  allowAllPaths: s
    .boolean()
    .default(false)
    .describe('Without a policy: let every pod read all that the operator can. Has no effect beside a policy.'),
  permittedPathsRequired: s
    .boolean()
    .default(false)
    .describe('Refuse pods of namespaces without the annotation jasm.codnod.io/permitted-paths.'),
  policy: s.array(rule).maxItems(1_024).describe('Who may read what. What no rule allows is refused.').optional(),
};

/** policyRule validates these fields together: the configuration must define which pods may read which secrets. */
export const policyRule = {
  rule: 'has(self.policy) || self.allowAllPaths',
  message:
    'without a policy every author of a pod could read all secrets that the operator can; say who may read what in the setting jasm.policy, or allow everything with --allow-all-paths',
  fieldPath: '.policy',
} as const;
