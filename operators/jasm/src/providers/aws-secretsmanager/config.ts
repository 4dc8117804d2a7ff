import { type Read, s } from '@bowline/runtime/resource';

const globs = s.array(s.string().minLength(1).maxLength(2048)).maxItems(256).default([]);

/**
 * config is the section `aws` of the operator's configuration. It has no credentials: the SDK finds them in the usual
 * places.
 */
export const config = s
  .object({
    region: s
      .string()
      .pattern('^[a-z]{2,}(-[a-z0-9]+)+$')
      .optional()
      .describe(
        'The region to read from. Defaults to AWS_REGION, then to the region of the shared configuration file.',
      ),
    endpoint: s
      .string()
      .pattern('^(https://[^/?#]+|http://(localhost|127[.][0-9.]+|\\[::1\\])(:[0-9]+)?)/?$')
      .optional()
      .describe(
        'The URL of Secrets Manager, for private endpoints and tests. It must use https, or http on a loopback address, because responses are not encrypted otherwise. Defaults to AWS_ENDPOINT_URL_SECRETS_MANAGER, then AWS_ENDPOINT_URL, then the endpoint of the region.',
      ),
    role: s
      .string()
      .pattern('^arn:[a-z-]+:iam::[0-9]{12}:role/.+$')
      .optional()
      .describe(
        'The ARN of a role to assume before reading. By default no role is assumed, and the identity of the credentials is used.',
      ),
    externalId: s
      .string()
      .pattern('^[A-Za-z0-9_+=,.@:/-]*$')
      .minLength(2)
      .maxLength(1224)
      .optional()
      .describe('The external id that the trust policies of the roles require.'),
    sessionTags: s
      .boolean()
      .default(false)
      .describe(
        'Tag the session of every assumed role with the namespace of the requesting pods, as jasm-namespace, so that IAM policies can distinguish namespaces. The trust policies must allow sts:TagSession.',
      ),
    prefix: s
      .string()
      .pattern('^[A-Za-z0-9/_+=.@-]*$')
      .maxLength(512)
      .default('')
      .describe(
        'A prefix that is added to the name of every secret. Pods omit it; an ARN must be the ARN of a secret whose name starts with it.',
      ),
    allowedRegions: globs.describe('Globs of the regions that an annotation may specify if no policy is set.'),
    allowedRoles: globs.describe('Globs of the role ARNs that an annotation may specify if no policy is set.'),
  })
  .default({});

/** AwsConfig is the parsed section. */
export type AwsConfig = Read<typeof config>;
