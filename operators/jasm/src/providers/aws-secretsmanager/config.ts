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
      .describe('The region to read in. Defaults to AWS_REGION, then to that of the shared configuration file.'),
    endpoint: s
      .string()
      .pattern('^(https://[^/?#]+|http://(localhost|127[.][0-9.]+|\\[::1\\])(:[0-9]+)?)/?$')
      .optional()
      .describe(
        'The address of Secrets Manager, for private endpoints and tests: https, or http on this machine, because answers are not encrypted otherwise. Defaults to AWS_ENDPOINT_URL_SECRETS_MANAGER, AWS_ENDPOINT_URL, then to that of the region.',
      ),
    role: s
      .string()
      .pattern('^arn:[a-z-]+:iam::[0-9]{12}:role/.+$')
      .optional()
      .describe(
        'The ARN of a role to assume before reading. Defaults to none: the identity that the credentials are of reads itself.',
      ),
    externalId: s
      .string()
      .pattern('^[A-Za-z0-9_+=,.@:/-]*$')
      .minLength(2)
      .maxLength(1224)
      .optional()
      .describe('The external id that the trust policies of roles ask for.'),
    sessionTags: s
      .boolean()
      .default(false)
      .describe(
        'Tag the session of every role that is assumed with the namespace of the pods that ask, as jasm-namespace, so that policies of IAM can tell them apart. The trust policies must allow sts:TagSession.',
      ),
    prefix: s
      .string()
      .pattern('^[A-Za-z0-9/_+=.@-]*$')
      .maxLength(512)
      .default('')
      .describe(
        'What the name of every secret begins with. Pods leave it out; an ARN must be of a secret that begins with it.',
      ),
    allowedRegions: globs.describe('Globs of the regions that an annotation may name where no policy is given.'),
    allowedRoles: globs.describe('Globs of the ARNs of roles that an annotation may name where no policy is given.'),
  })
  .default({});

/** AwsConfig is the parsed section. */
export type AwsConfig = Read<typeof config>;
