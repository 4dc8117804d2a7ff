import { matching, notMatching, type TextLimits, textProblem } from './text-check.ts';

const USER = '[A-Za-z0-9_][A-Za-z0-9._-]*';
// It cannot begin with a dash: ssh would read it as an option.
const HOST = '([A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\])';

/** REPOSITORY_URL limits the URLs of repositories to what can be passed to git safely, and contains no credentials. */
export const REPOSITORY_URL: TextLimits = {
  maxLength: 2048,
  checks: [
    matching(
      '^[\\x21-\\x7e]*$',
      'contains white space, a control character or a character that is not ASCII; percent-encode it',
    ),
    notMatching(
      '^https?://[^/]*@|^[a-z]+://[^/]*:[^/]*@|^[^/@:]+:[^/@:][^/@]*@',
      'contains credentials, which everyone who may read this object would see; remove them and name a Secret in git.auth',
    ),
    matching(
      `^((https?|ssh)://|${USER}@)`,
      'must begin with https://, ssh://, http:// or user@host:, for example https://git.example.com/plant.git; other protocols, options and local paths are not allowed',
    ),
    matching(
      `^(https?|ssh)://(${USER}@)?${HOST}(:[0-9]{1,5})?/[^?#\\\\]+$|^${USER}@${HOST}:[^-:?#\\\\][^?#\\\\]*$`,
      'has no valid host or path; write it as https://host/path, ssh://user@host/path or user@host:path',
    ),
  ],
};

/** repositoryUrlProblem returns what is wrong with the URL of a repository, and how to fix it. Undefined: nothing. */
export function repositoryUrlProblem(url: string): string | undefined {
  return textProblem(url, REPOSITORY_URL);
}
