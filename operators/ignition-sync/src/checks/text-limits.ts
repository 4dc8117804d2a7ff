import { matching, type TextLimits } from './text-check.ts';

const AUTHORITY = '([A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?';
const PATH_AND_QUERY = '([/?][\\x21-\\x7e]*)?';

/** HTTPS_URL limits URLs to those of HTTPS, without credentials. */
export const HTTPS_URL: TextLimits = {
  maxLength: 2048,
  checks: [
    matching(
      `^https://${AUTHORITY}${PATH_AND_QUERY}$`,
      'must be an https:// URL without credentials, for example https://host.example.com/path',
    ),
  ],
};

/** HTTP_URL limits URLs to those of HTTP and HTTPS, without credentials. */
export const HTTP_URL: TextLimits = {
  maxLength: 2048,
  checks: [
    matching(
      `^https?://${AUTHORITY}${PATH_AND_QUERY}$`,
      'must be an https:// or http:// URL without credentials, for example https://host.example.com/path',
    ),
  ],
};

/** JSON_PATH limits paths in JSON documents to members and elements. */
export const JSON_PATH: TextLimits = {
  maxLength: 512,
  checks: [
    matching(
      '^(\\.[^.\\[\\]\\x00-\\x20\\x7f]+|\\[[0-9]{1,6}\\])+$',
      'must consist of .name and [number] parts, for example .servers[0].host',
    ),
  ],
};

/** SECRET_KEY limits the keys of Secrets, as the API server does. */
export const SECRET_KEY: TextLimits = {
  maxLength: 253,
  checks: [
    matching('^[-._a-zA-Z0-9]+$', 'must consist of letters, digits, "-", "_" and "."; write the key as in the Secret'),
  ],
};

/** USER_NAME limits the user names of HTTP basic authentication. */
export const USER_NAME: TextLimits = {
  maxLength: 255,
  checks: [matching('^[^:\\x00-\\x20\\x7f]+$', 'must not contain ":", white space or control characters; remove them')],
};

/** GLOB limits patterns of paths. */
export const GLOB: TextLimits = {
  maxLength: 512,
  checks: [
    matching('^[^\\x00-\\x1f\\x7f\\\\]+$', 'must not contain control characters or backslashes; separate parts by "/"'),
  ],
};

/** GATEWAY_NAME limits the names of gateways. */
export const GATEWAY_NAME: TextLimits = {
  maxLength: 253,
  checks: [matching('^[^\\x00-\\x20\\x7f]+$', 'must not contain white space or control characters; remove them')],
};

/** SNAPSHOT_NAME limits the names of snapshots, which are names of files. */
export const SNAPSHOT_NAME: TextLimits = {
  maxLength: 255,
  checks: [
    matching(
      '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      'must be the name of a snapshot as in status.discoveredGateways[].lastSnapshot.id, of letters, digits, "-", "_" and "."',
    ),
  ],
};

/** S3_BUCKET limits the names of buckets. */
export const S3_BUCKET: TextLimits = {
  maxLength: 63,
  checks: [
    matching(
      '^[a-z0-9][a-z0-9.-]+[a-z0-9]$',
      'must have at least 3 lower-case letters, digits, "-" and ".", and begin and end with a letter or digit',
    ),
  ],
};

/** IMAGE_DIGEST limits the digests of images. */
export const IMAGE_DIGEST: TextLimits = {
  maxLength: 71,
  checks: [matching('^sha256:[0-9a-f]{64}$', 'must be sha256: and 64 hexadecimal digits in lower case')],
};
