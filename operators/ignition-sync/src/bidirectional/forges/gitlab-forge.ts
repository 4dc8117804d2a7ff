import { callForge, type Forge, type ForgeCall, type ForgeOptions, hostOf, listIn, pullRequestIn } from './forge.ts';

const FIELDS = { number: 'iid', url: 'web_url' };

/** gitlabForge opens merge requests on GitLab. */
export function gitlabForge(options: ForgeOptions): Forge {
  const { project, token } = options;
  const requests = `/projects/${encodeURIComponent(project)}/merge_requests`;
  const headers = { 'private-token': token };
  const call = (given: Omit<ForgeCall, 'headers'>): Promise<unknown> => callForge(options, { headers, ...given });
  return {
    async findOpen(branch, base, signal) {
      const query = new URLSearchParams({ state: 'opened', source_branch: branch, target_branch: base });
      const found = listIn(await call({ method: 'GET', path: `${requests}?${query}`, signal }), hostOf(options));
      return found.length === 0 ? undefined : pullRequestIn(found[0], FIELDS, hostOf(options));
    },
    async open({ branch, base, title, body, labels }, signal) {
      const sent = {
        source_branch: branch,
        target_branch: base,
        title,
        description: body,
        // GitLab creates labels that do not exist.
        ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
      };
      const opened = await call({ method: 'POST', path: requests, body: sent, signal });
      return pullRequestIn(opened, FIELDS, hostOf(options));
    },
  };
}
