#!/usr/bin/env bash
# Makes a text for `recollect train --set task=text --corpus FILE`: Perl's manual pages, about nine million bytes of
# English and code, from Debian's package perl-doc (GPL-1+ or Artistic; the package's copyright file lists exceptions).
# The text is downloaded, never committed.
#   ci/corpus.sh FILE
set -euo pipefail
if (($# != 1)); then echo "usage: ci/corpus.sh FILE" >&2; exit 2; fi
source "$(dirname "$0")/beat.sh"
out=$(realpath -m "$1")
folder=$(mktemp -d)
beat ci/corpus.sh
trap 'end_beat; rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq -o APT::Sandbox::User=root download perl-doc || { echo "corpus.sh: cannot download perl-doc" >&2; exit 3; }
dpkg-deb -x perl-doc_*.deb .
find . -path '*/pod/perl*.pod' | LC_ALL=C sort | xargs cat > text
mv text "$out"
echo "$out: $(wc -c < "$out") bytes of $(echo perl-doc_*.deb | cut -d_ -f2 | sed 's/%3a/:/'), GPL-1+ or Artistic"
