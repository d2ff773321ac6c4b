#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/pages.sh SITE NAME: publishes the folder SITE as /NAME on the branch gh-pages of the remote origin, and lists all
# published names at /. A version is published only once, so that its pages never change; `latest` is replaced.
set -euo pipefail
die() { echo "pages: error: $*" >&2; exit 3; }
[[ $# == 2 ]] || { echo "usage: ci/pages.sh SITE NAME" >&2; exit 2; }
[[ $2 =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] || { echo "pages: error: '$2' is no name of a folder" >&2; exit 2; }
[[ -f $1/index.html ]] || die "$1 holds no index.html: make the site first (recollect report)"
export GIT_AUTHOR_NAME=${GITHUB_ACTOR:-recollect} GIT_COMMITTER_NAME=${GITHUB_ACTOR:-recollect}
export GIT_AUTHOR_EMAIL=$GIT_AUTHOR_NAME@users.noreply.github.com GIT_COMMITTER_EMAIL=$GIT_AUTHOR_NAME@users.noreply.github.com
site=$(realpath "$1") name=$2
work=$(mktemp -d)
trap 'git worktree remove --force "$work"' EXIT
if git fetch -q --depth 1 origin gh-pages 2>/dev/null; then
  git worktree add -q --detach "$work" FETCH_HEAD
else # the branch does not exist yet
  git worktree add -q --detach "$work" "$(git commit-tree -m "Start the pages" "$(git mktree </dev/null)")"
fi
if [[ $name != latest && -e $work/$name ]]; then
  echo "pages: $name is published already and stays as it is"
  exit 0
fi
rm -rf "${work:?}/$name"
cp -r "$site" "$work/$name"
touch "$work/.nojekyll"
{
  echo '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
  echo '<title>recollect</title><h1>recollect</h1><ul>'
  (cd "$work" && printf '%s\n' [A-Za-z0-9]*/ | sort -Vr | sed 's|\(.*\)/|<li><a href="\1/index.html">\1</a></li>|')
  echo '</ul>'
} >"$work/index.html"
git -C "$work" add -A
git -C "$work" diff --cached --quiet && { echo "pages: $name has not changed"; exit 0; }
git -C "$work" commit -q -m "Publish $name"
git -C "$work" push -q origin HEAD:refs/heads/gh-pages
echo "pages: published /$name"
