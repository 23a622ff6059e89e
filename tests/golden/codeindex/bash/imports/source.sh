source ./lib.sh
. "$DIR/other.sh"
. /etc/profile
if [ -f late.sh ]; then . late.sh; fi
echo source no.sh
source "$(dirname "$0")/near.sh"
