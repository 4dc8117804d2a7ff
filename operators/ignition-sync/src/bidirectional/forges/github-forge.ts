import { callForge, type Forge, type ForgeCall, type ForgeOptions, hostOf, listIn, pullRequestIn } from './forge.ts';

const FIELDS = { number: 'number', url: 'html_url' };

/** githubForge opens pull requests on GitHub and GitHub Enterprise. */
export function githubForge(options: ForgeOptions): Forge {
  const { project, token } = options;
  const [owner = ''] = project.split('/', 1);
  const repository = `/repos/${project.split('/').map(encodeURIComponent).join('/')}`;
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'x-github-api-version': '2022-11-28',
  };
  const call = (given: Omit<ForgeCall, 'headers'>): Promise<unknown> => callForge(options, { headers, ...given });
  return {
    async findOpen(branch, base, signal) {
      const query = new URLSearchParams({ state: 'open', head: `${owner}:${branch}`, base });
      const found = listIn(
        await call({ method: 'GET', path: `${repository}/pulls?${query}`, signal }),
        hostOf(options),
      );
      return found.length === 0 ? undefined : pullRequestIn(found[0], FIELDS, hostOf(options));
    },
    async open({ branch, base, title, body, labels }, signal) {
      const sent = { title, head: branch, base, body, maintainer_can_modify: true };
      const opened = await call({ method: 'POST', path: `${repository}/pulls`, body: sent, signal });
      const request = pullRequestIn(opened, FIELDS, hostOf(options));
      // Labels belong to the issue behind a pull request. GitHub creates those that do not exist.
      if (labels.length > 0) {
        const path = `${repository}/issues/${request.number}/labels`;
        await call({ method: 'POST', path, body: { labels: [...labels] }, signal });
      }
      return request;
    },
  };
}
