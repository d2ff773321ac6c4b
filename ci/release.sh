#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/release.sh VERSION [--dry-run] [-o FOLDER]: writes to FOLDER (default: out/release) the source of HEAD as
# recollect-VERSION.tar.gz, Debian packages if build/ was built from HEAD, and SHA256SUMS; then tags HEAD as vVERSION, with
# the checksums in the tag's message.
# The tarball's bytes depend only on the commit. --dry-run: tags nothing. Exit: 0 done, 2 usage, 3 cannot be released.
set -euo pipefail
die() { echo "release: error: $*" >&2; exit 3; }
usage() { echo "usage: ci/release.sh VERSION [--dry-run] [-o FOLDER]" >&2; exit 2; }
version="" dry="" out=out/release
while (($#)); do
  case $1 in
    --dry-run) dry=yes ;;
    -o) [[ $# -ge 2 ]] || usage; out=$2; shift ;;
    -*) usage ;;
    *) [[ -z $version ]] || usage; version=$1 ;;
  esac
  shift
done
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || usage
cd "$(dirname "$0")/.."

# Every file that names the version must name VERSION.
[[ -z $(git status --porcelain) ]] || die "the tree has changes that are not committed: commit or stash them"
git rev-parse -q --verify "refs/tags/v$version" >/dev/null && die "the tag v$version exists: a release is made once"
names() { grep -qE "$2" "$1" || die "$1 does not name version $version: correct it"; }
names CMakeLists.txt "^project\(recollect VERSION ${version//./\\.} "
names pyproject.toml "^version = \"${version//./\\.}\"$"
names CITATION.cff "^version: ${version//./\\.}$"
names CHANGELOG.md "^## .*${version//./\\.}"

mkdir -p "$out"
rm -f "$out"/recollect*"$version"* "$out/SHA256SUMS"
git archive --format=tar --prefix="recollect-$version/" HEAD | gzip -9n >"$out/recollect-$version.tar.gz"
if [[ -f build/CPackConfig.cmake ]] && build/recollect info | grep -q "$(git rev-parse HEAD)"; then
  cpack -G DEB --config build/CPackConfig.cmake -B "$out" >"$out/cpack.log" || die "cpack failed; the log is $out/cpack.log"
  rm -rf "$out/_CPack_Packages" "$out/cpack.log"
else
  echo "release: no Debian packages: build/ was not built from this commit"
fi
(cd "$out" && sha256sum recollect* >SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
cat "$out/SHA256SUMS"
if [[ $dry ]]; then
  echo "release: dry run: v$version is not tagged"
else
  git tag -a "v$version" -m "recollect $version" -m "$(cat "$out/SHA256SUMS")"
  echo "release: tagged v$version; publish it with: git push origin v$version"
fi
