"""Recognises the everyday forms in which a person states a rule, a fact or a decision of the project.

Each form shows by itself that the sentence holds beyond the task at hand: "we never ...", "every ... must ...",
"whenever you ...", "don't edit files under ...", "our ... is called ...", "we decided ... because ...". A question, a
doubt, a report of a fault and a request about what is at hand are none, whatever their form. English only.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

from holdfast.detectors._shared.wording import stand_alone

FormSort = Literal["rule", "fact", "decision", "cause"]

LEAD = (
    r"(?:(?:ok(?:ay)?|also|and|so|but|please|hey|btw|fyi|note(?: that)?|important|reminder|great|thanks|yes|no|nope"
    r"|wait|wrong|incorrect|actually|well|claude|plz|pls|remember|remember that|careful|heads[- ]up|just so you know"
    r"|for your information|one more thing|that'?s (?:wrong|not right))[\s,.!:;-]+)*"
)
"""Opening words in front of a rule."""
_TURNED_DOWN = r"(?:no|nope|wait|wrong|incorrect|actually|that'?s (?:wrong|not right))\b[\s,.!:;-]+"
_CODE_BASE = r"(?:repo|repository|project|codebase|code base|monorepo|package|workspace|team|company)"
_IN_HERE = rf"(?:(?:in|for) (?:this|our|the) {_CODE_BASE},? |here,? |around here,? )?"
_THING = r"(?!(?:it|this|that|these|those|they|he|she|there|which|what|who|you|i|we)\b)[^,;:?]{3,60}?"
_EDITS = r"(?:edit|touch|modify|change|hand-edit|alter|write|delete|remove|rename|move|format|reformat|commit|add|put)"
_PROCESS = (
    r"(?:tests?|suite|specs?|build|builds|linter|lint|server|app|api|migrations?|deploy\w*|release\w*|pipeline|ci"
    r"|container\w*|emulator|scripts?|benchmarks?|database|db|cli|worker|workers|docs|dev server)"
)

_PLURAL = (
    r"(?!(?:the|this|that|these|those|it|they|we|you|i|a|an|users?|people|customers|buttons?|there|what|which"
    r"|things)\b)(?:(?:all|our) )?[a-z][\w /-]{1,40}?s"
)
"""A subject in general, without an article: "dates", "all http calls"."""
_MADE = (
    r"(?:(?:auto-?)?generated|regenerated|built|rebuilt|compiled|synced|overwritten|vendored|copied|imported|managed"
    r"|maintained|owned|frozen|legacy|deprecated|checked|produced|written by)"
)
_RESOURCE = (
    r"(?:running|docker|podman|redis|postgres\w*|mysql|mongo\w*|kafka|rabbitmq|elasticsearch|minio|localstack|vpn"
    r"|internet|network|tokens?|credentials?|env(?:ironment)? (?:var|variable)s?|[A-Z][A-Z0-9]*_[A-Z0-9_]+|version|node"
    r"|python|java|jdk|go|ruby|rust|php|gpu|sudo|root|emulator|browser|chrome|chromium|firefox|database|db|server"
    r"|daemon|port|licen[cs]e|api key|secret)"
)
_KEPT = (
    r"(?:stored|written|named|kept|saved|logged|formatted|sorted|created|generated|deployed|released|tagged|merged"
    r"|squashed|signed|encrypted|hashed|committed|cached|served|run|built|versioned|prefixed|done|made|sent|passed"
    r"|represented|reviewed|tested|in|on|by)"
)

_SOURCES: tuple[str, ...] = (
    # always, never, must
    r"(?:I(?:'d| would)? (?:want|need|expect|like|prefer) you to |make sure (?:that )?(?:you |we |to )?"
    r"|be sure to )(?P<rule>(?:always|never|not ever)\b.{6,})",
    r"(?P<rule>(?:you|we|nobody|no one|agents?) (?:must|may|can|should) (?:always|never|only ever)\b.{6,})",
    r"(?P<rule>(?:you|we|nobody|no one|agents?) must not\b.{6,})",
    r"(?P<rule>(?:do not|don't|dont) ever\b.{6,})",
    r"(?P<rule>(?:must|should) (?:never|always)\b(?! have\b).{6,})",
    rf"(?P<rule>(?:do not|don't|dont) \w+ [^,?]{{3,80}} (?:in|from) (?:this|our|the) {_CODE_BASE}\b[^,?]{{0,40}})",
    rf"(?P<rule>{_IN_HERE}we (?:(?:do not|don't) ever|always|never|only ever)\b.{{6,}})",
    rf"(?P<rule>{_THING} (?:must|should|may|can) (?:never|always)\b.{{4,}}|{_THING} must not\b.{{4,}})",
    r"(?P<rule>(?:all|every|each|any|no) [^,;:?]{3,60}? (?:must(?! pass| be (?:fixed|done))|has to|have to"
    r"|needs?(?! to be\b)) .{3,})",
    r"(?P<rule>we (?:should(?: not|n't| never)) (?:touch|use|log|store|commit|write|edit|modify|depend|rely|import"
    r"|expose|print|retry|swallow|hard-?code|mock|pollute|polute|add|push|merge|deploy|ship|release)\b.{4,})",
    r"(?P<rule>(?:if|when) [^,:]{4,80}, (?:please |we |you )?(?:always|never)\b.{6,})",
    r"(?P<rule>we (?:should|must|want to|need to) (?:be using|use|prefer)\b.{3,}\b(?:wherever|everywhere|whenever"
    r"|at all times|in all|by default)\b.*)",
    # this and not that
    r"(?P<rule>(?:use|prefer|run|call|write|put|keep|install|name|store|throw|return|import)\b[^.?!]{2,80}?"
    r"(?:,|;| and| but| -)\s*(?:and |but )?(?:never(?! mind)|not ever|(?:do not|don't) ever)\b.{2,})",
    rf"(?P<rule>{_IN_HERE}we (?:use|run|write|deploy|store|keep|name|format|test|indent|prefer)\b"
    r"(?! (?:it|this|that|them)\b).{2,80}(?:,|;| and) ?(?:and )?(?:not|never|no|don't use)\b.{2,})",
    # each time
    r"(?P<rule>(?:whenever|every time|each time|any ?time) (?:you|we|an?|someone|anyone)\b[^,:]{4,80}"
    r"[,:]? (?!it\b|this\b|that\b|they\b|there\b|I get\b|we get\b).{6,})",
    r"(?P<rule>when(?:ever)? (?:you|we) [^,:]{4,80}, (?:please )?(?:always|never)\b.{6,})",
    r"(?P<rule>(?:before|after|for|on|with|in) (?:every|each|any) [^,:]{3,50},? (?:please |also |always |you must "
    r"|you should |I want |we want |we )?(?:run|write|add|update|regenerate|check|ask|bump|make|use|include|create"
    r"|an? )\b.{4,})",
    # hands off
    rf"(?P<rule>(?:do not|don't|dont|never|you (?:must|should)(?: not|n't)) {_EDITS} (?:(?:any|the|our|those) )?"
    r"(?:\w+ ){0,3}?(?:in|under|inside|below|within) [`'\"]?(?:(?:the )?[\w.*-]*/[\w./*-]*|the [\w-]+ (?:folder"
    r"|directory|dir)|[\w.-]+(?= (?:folder|directory|dir)\b|/|,)).*)",
    rf"(?P<rule>(?:our [^,;:?]{{3,60}}, (?:so )?)?(?:do not|don't|dont|never|you (?:must|should)(?: not"
    rf"|n't)) {_EDITS}\b.{{3,80}}\b"
    r"(?:by hand|manually|without (?:asking|telling|checking|talking|approval|my|me))\b.*)",
    r"(?P<rule>stop (?:using|adding|putting|writing|creating|leaving|importing|mocking|hard-?coding)\b"
    r"(?! (?:the|this|that|it|these|those|your|my)\b) .{5,})",
    rf"(?P<rule>{_THING} (?:is|are) (?:strictly |absolutely )?(?:forbidden|off[- ]limits|banned|prohibited"
    r"|not allowed)\b(?! by).*)",
    r"(?:our|the|my|house) (?:rule|convention|policy|standard|practice)(?: here| for [^:,]{2,40})?"
    r"(?: is|:)[\s:,]*(?:that |to )?(?P<rule>.{10,})",
    r"(?P<rule>I (?:(?:always|strongly|generally|usually|really) )?prefer (?!to\b|the\b|this|that|it\b|option"
    r"|your\b|my\b)(?:[\w-]+ ){0,3}[\w-]+s\b.*)",
    r"(?P<rule>(?:nobody|no one|no-one) (?:\w+s|is allowed to|may|can|should)\b.{3,}\b(?:without|except|but"
    r"|unless)\b.{3,})",
    r"(?P<rule>(?:do not|don't|dont) .{6,}?,? ever\W*$)",
    r"(?P<rule>(?:use|keep|write|put|run|name|add|call|return|throw|prefer|ask|check)\b.{6,}?,? (?:please,? )?"
    r"(?:always|every time|each time|everywhere)\W*$)",
    r"(?P<rule>we (?:don't|do not|never) (?:do|use|write|mock|commit|allow|ship|log|accept|want|support|merge"
    r"|deploy|like)\b(?! (?:it|this|that|them|the)\b).{3,}\b(?:here|around here|in (?:this|our|the) (?:repo"
    r"|repository|project|codebase|code base|team|company)|in production|in tests|on main|on master)\W*$)",
    r"(?:[^,;:?]{3,60}(?:,| so) )?(?P<rule>only (?:push|commit|merge|deploy|release|publish|install|rebase|tag)\b"
    r".{2,}?\b(?:once|when|after|if|with|from|on|in)\b.{3,})",
    r"(?P<rule>(?:if|when|whenever|after|before) you (?:change|edit|touch|modify|add|create|write|rename|remove"
    r"|delete|bump|upgrade|introduce|commit|push|merge|deploy|release)\b(?: (?:an?|any|new|something|anything"
    r"|one of)\b[^,:]{3,60}?|,)(?:,| you|:) ?(?:please |then |you )?(?:always|also|have to|need to|must|should|run"
    r"|update|regenerate|add|bump|rebuild)\b.{3,})",
    r"(?P<rule>(?:I (?:like|prefer) (?:my|your|all)|keep (?:your|all|the)) (?:answers|replies|responses"
    r"|explanations|summaries|commits|commit messages|diffs|prs|pull requests|comments|functions|methods|files"
    r"|tests|docs|messages)\b.{4,})",
    r"(?P<rule>(?:all |our |new )?(?:commits|commit messages|commit subjects|pull requests|prs|branches|branch names"
    r"|migrations|test names|test files|unit tests|docstrings|log messages|logs|error messages|dates|timestamps|secrets"
    r"|passwords|file names|filenames|feature flags|endpoints|env vars|environment variables|services|components"
    r"|modules|packages|imports|constants|fixtures|queries) (?:should|must|need to|have to|get|start with|end with|use"
    r"|go|belong|live|are (?:named|written|stored|kept|always|formatted|sorted|squashed|prefixed))\b.{3,})",
    r"(?P<rule>(?:nobody|no one|no-one) (?:should|may|must|can) (?:ever )?(?!know|see|care|notice)\w+ .{4,})",
    r"(?P<rule>[\w -]{3,40}? (?:belongs?|goes?|lives?) (?:in|on|under|into|inside) [^,?]{3,60}, (?:not|never) .{3,})",
    r"(?P<rule>(?:keep|update|add|write|run|bump|include|check) [^,?]{3,50} (?:with|for|after|on|before|in) (?:each"
    r"|every) (?:new |single )?(?:change|commit|pr|pull request|release|feature|bug|fix|file|test|merge|push"
    r"|deploy\w*|endpoint|migration|function|module|package|component)\b.*)",
    r"(?P<rule>we (?:squash|rebase|squash[- ]merge|version|pin|vendor|lint|format|deploy|release|ship|tag|prefix"
    r"|translate|document|review|index|cache|validate|test) (?:\w+ )?(?:everything|all|every|each|(?:the "
    r"|our )?\w+ (?:by|with|through|via|only|because|since|on every|in every))\b.*)",
    rf"(?P<rule>{_IN_HERE}we (?:only |always )?(?:use|indent|format|write|name|store|test|deploy|release|log|prefer"
    r"|call|commit|squash|target|support)\b(?! (?:it|this|that|them|these|the)\b).{3,80}?\b(?:here|everywhere"
    r"|throughout|across the board|in (?:this|our|all|every) (?:repo|repository|project|codebase|code base|team"
    r"|company|services?|modules?|packages?))\W*$)",
    rf"(?P<rule>in (?:this|our|the) {_CODE_BASE},? we\b.{{6,}})",
    r"(?P<rule>(?:for|in|on|with|inside|outside) (?!this\b|that\b|now\b)[^,:;?]{2,40}?,? we (?:only|always|never"
    r"|don't|do not|use)\b.{4,})",
    r"(?P<rule>(?:you|we|one) (?:still |always )?(?:need|have) to (?:run|call|regenerate|rebuild|update|bump"
    r"|restart|add|ask|tell|notify|sync|install)\b.{3,60}? (?:after|before|when(?:ever)?|each time|every time"
    r"|if) (?:you |we |one )?(?:chang|edit|touch|add|modif|pull|upgrad|rebas|merg|renam|mov|delet|remov|deploy"
    r"|releas)\w*\b(?! (?:it|this|that|these)\b).*)",
    r"(?P<rule>(?:always )?(?:run|call|regenerate|rebuild|update|bump|restart|sync) .{2,60}? (?:after|whenever"
    r"|each time|every time|when(?:ever)? you) (?:you |we )?(?:chang|edit|touch|add|modif|pull|upgrad|rebas|merg"
    r"|renam|mov|delet|remov)\w*\b(?! (?:it|this|that|these)\b).{3,})",
    r"(?P<rule>we (?:still |also )?(?:have to|need to|must) (?:support|run on|work on|stay on|stick to"
    r"|stay compatible with|keep supporting)\b.{3,})",
    r"(?P<rule>[\w.+# -]{2,30}? is (?:the|our) (?:minimum|oldest|lowest|highest|maximum|only) \w+.*)",
    r"(?P<rule>[A-Za-z][\w.+#-]* ?\d[\w.]* is (?:the|our) (?:minimum|oldest|lowest|highest|maximum|newest|limit)\b.*)",
    rf"(?P<rule>{_PLURAL} (?:are|get|go) (?:always|never|only) {_KEPT}\b.{{2,}})",
    r"(?P<rule>(?:all|every|our) [^,;:?]{3,60}? (?:is|are) [^,;:?]{3,60}?(?:,|;| and) ?(?:never|not|no)\b.{3,})",
    rf"(?P<rule>(?:{_PLURAL}|all [^,;:?]{{3,60}}?) (?:must|have to) (?!be able\b)[^?]{{4,80}}?"
    r"(?: because(?: of)?| since| so that|, otherwise| or else)\b.{3,})",
    rf"(?P<rule>{_PLURAL} (?:must|have to) (?:go|come|pass) (?:through|from|via|behind)\b.{{3,}})",
    r"(?P<rule>[\w -]{3,40}? (?:lives?|belongs?|go(?:es)?|are (?:kept|stored)|is (?:kept|stored)) (?:in|on|under"
    r"|into|inside) [^,?]{2,60}(?:,|;| and| -) ?(?:so )?(?:not|never|don't|do not|dont) .{3,})",
    rf"(?P<rule>(?:do not|don't|dont|never) {_EDITS} (?:(?:any|anything|the|our|those|files) )?(?:in |under "
    rf"|inside |below )?[`'\"]?[\w.*-]*/?[\w./*-]+[`'\"]?(?: (?:files?|folder|directory))?[\s,;.:-]+(?:(?:because"
    rf"|since|as) )?(?:it|they|that|those)(?:'s|'re|s| is| are| gets?| get| was| were|re)? (?:\w+ )?{_MADE}\b.*)",
    r"(?P<rule>no (?!need|problem|worries|idea|rush|thanks|more\b|longer\b|one\b)[\w -]{3,40}? .{0,60}?,? ever\W*$)",
    r"(?P<rule>no (?!need|problem|worries|idea|rush|thanks|one\b)[\w -]{3,40}?s? without (?:a|an|my|asking|review"
    r"|approval|tests?|telling)\b.*)",
    # everyday forms without a signal word
    r"(?P<rule>we (?:don't|do not|dont) (?:do|use|write|allow|mock|commit|merge|ship|accept|support|log|import|squash"
    r"|rebase|cache|hard-?code)\b(?! (?:it|this|that|them|the|any of|much|a lot|anything|so|here\b|yet)\b) .{3,})",
    r"(?P<rule>we (?:write|make|do|build|run|release|deploy|maintain|update|generate|review|test|bump|sign|tag"
    r"|format)\b(?! (?:it|this|that|them)\b).{2,60}? (?:by hand|manually|ourselves|automatically|from ci|in ci"
    r"|locally|only on \w+|once an? \w+|every \w+)\b.*)",
    rf"(?P<rule>{_PLURAL} (?:are|have|start with|end with|end in|use|get) [^,?]{{2,60}} (?:here|in this (?:repo"
    rf"|repository"
    r"|project|codebase|package)|everywhere|throughout)\W*$)",
    r"(?P<rule>ask (?:me |us |first )?before (?:you )?(?!it\b|this\b|that\b)\w+.{3,})",
    r"(?P<rule>(?:use|prefer|stick to|stay on) (?!the\b|this\b|that\b|it\b|a\b"
    r"|an\b)[\w@./+-]+(?: [\w@./+-]+)?[,;] ?(?!please\b|then\b|and\b)(?:[\w@./+-]+ ){1,3}?(?:is|are|breaks?|fails?"
    r"|can't|cannot|doesn't|does not|has|have|mess(?:es)?|ignores?|loses?|needs?|hangs?|leaks?)\b.{2,})",
    r"(?P<rule>(?:don't|do not|dont|never) (?:ever )?(?:add|write|use|put|create|introduce|leave|make|merge|commit"
    r"|log) (?!the\b|this\b|that\b|these\b|those\b|an?\b|it\b|more\b)(?:[\w-]+ ){0,2}?[\w-]+s (?:that|which|unless"
    r"|without|like) .{4,})",
    r"(?P<rule>I (?:really )?(?:hate|dislike|detest|can't stand|love|don't like|do not like) (?!the\b|this\b|that\b"
    r"|these\b|those\b|it\b|how\b|your\b|my\b|what\b|when\b)(?:[\w-]+ ){0,2}[\w-]+s\b.*)",
    r"(?P<rule>(?:all|every|each|our) (?:[\w-]+ ){0,2}?(?:endpoints?|services?|modules?|packages?|components?"
    r"|handlers?|tests?|migrations?|commits?|branches|queries|functions?|methods?|class(?:es)?|files?|jobs?"
    r"|workers?|models?|tables?|errors?|logs?|events?|configs?|scripts?|routes?|commands?|types?|apis?|repos?"
    r"|configs?) (?:return|use|have|has|go|goe|live|start|end|carry|carrie|extend|implement|throw|log|take|expose"
    r"|inherit|accept|come|write|read|run)s?\b(?! (?:again|now)\b).{3,})",
    r"(?P<rule>(?:tests|files|functions|modules|migrations|scripts|endpoints|components|classes|types|branches"
    r"|commits|packages|services|jobs|queries|handlers|secrets|configs|methods|errors|events|routes|tables|columns)"
    r"(?: (?:that|which|with|without|in|for|of|from) [^,?]{2,40}?)? (?:must|have to|should always|need to|always"
    r"|never)\b(?! be able\b) .{3,})",
    # statements in general, without an article before their subject
    r"(?P<rule>(?:our|most of our) (?!tests? (?:are|is)\b|build is\b|ci is\b)(?:[\w/.-]+ ){1,4}?(?!again\b|now\b"
    r"|still\b)(?:want|start|end|begin|carry|follow|contain|cannot|can't|must|never|always|only|belong|come|go|live"
    r"|sit|are (?:called|named|in|on|at|behind|stored|written|kept|limited|versioned|prefixed))s?\b.{3,})",
    r"(?P<rule>no (?!need|problem|worries|idea|rush|thanks|one\b|errors?|warnings?|changes?|issues?|results?"
    r"|output|tests? )"
    r"(?:[\w-]+ ){0,2}?[\w-]+s (?:in|on|for|from|to|outside|inside|across|at) (?!the\b|this\b|that\b|it\b).{3,})",
    rf"(?P<rule>{_PLURAL} (?:must|cannot|can't|may not|have to|always|never) (?!be able\b|pass\b).{{3,}})",
    rf"(?P<rule>{_PLURAL} are (?!(?:green|red|done|ready|in|fine|ok|okay|good|missing|failing|running|there|gone"
    rf"|up|not|now"
    r"|still|passing|wrong|empty|too|very|the|also|all|both|back|coming|going|on)\b)[^,?]{2,60}(?:,| and"
    r"| so) ?(?:not|never|no|don't|do not|dont|so)\b.{3,})",
    r"(?P<rule>(?:you|we) (?:can't|cannot|can not|may not) (?:use|rely on|assume|depend on|import|call|install|run"
    r"|reach|access|log|store|add|ship)\b(?! (?:the|this|that|it|these|those)\b).{3,}?(?:,|;| because| since| as"
    r"|:).{4,})",
    r"(?P<rule>you (?:should|must|need to|have to) .{4,80}?\b(?:before|after|when|whenever) you (?:commit|push"
    r"|merge|deploy|release|finish|open|start|edit|add|change|rename)\b(?! (?:it|this|that)\b).*)",
    r"(?P<rule>prefer (?!the\b|this\b|that\b|it\b|option\b).{3,50}? (?:over|to|instead of|rather than) .{3,})",
    r"(?P<rule>keep (?!the\b|this\b|that\b|these\b|it\b|going\b|an?\b|your\b|my\b)(?:[\w-]+ ){0,2}?[\w-]+s (?:under"
    r"|below|short|small|to|in|out of|free of|free from|sorted|pure|simple|flat|alphabetical|separate|private)\b.*)",
    r"(?P<rule>(?:don't|do not|dont|never) (?:mock|use|call|import|log|store|put|hard-?code|sleep|print|commit|push"
    r"|deploy|run|test|stub|catch|swallow|throw|return|write|read|block|poll)\b .{2,50}? (?:in|on|from|to|for"
    r"|against|outside|inside|at) (?:(?:\w+ ){0,2}(?!this|does|is|was|has)\w{3,}s|prod|production|main|master|ci"
    r"|staging|library code|python|go|ts)\W*$)",
    r"(?P<rule>[\w.-]+ (?:for|in) (?!the\b|this\b|that\b)[\w /.+-]{2,25}[,;] ?(?:and )?[\w.-]+ (?:for"
    r"|in) (?!the\b|this\b|that\b)[\w /.+-]{2,25}\W*$)",
    r"(?P<rule>I (?:want|expect|like) (?!the\b|this\b|that\b|an?\b|to\b|you\b|it\b)[\w-]+s,?"
    r" (?:first|before|with|in)\b.{4,})",
    r"(?P<fact>the (?:[\w-]+ ){0,2}?(?:sandbox|ci|container|runner|staging|prod|production|cluster|server|db|database"
    r"|vm|image|pipeline|gateway|proxy|worker|lambda|cron|registry|machine|laptop|host|network|account) (?:has|have"
    r"|gets?|only|allows?) (?:no|only|at most|a limit|\d|takes?|accepts?|supports?|has|sees|runs?)\b.{3,})",
    r"(?P<cause>the (?:[\w-]+ ){1,4}?(?:died|crashed|failed|broke|hung|blew up|went down|deadlocked"
    r"|leaked) because\b(?! (?:of )?(?:it|this|that|you|i)\b).{6,})",
    r"(?P<cause>(?!it\b|this\b|that\b|you\b|i\b)[\w ./-]{3,40}? (?:didn'?t|did not|doesn'?t|does not|never) (?:help"
    r"|work|scale|pay off|hold up)\b[^?]{0,20}?(?:[,;:.-]| because| since) ?(?=.*\b(?:tried|because|since|kills?"
    r"|too)\b).{4,})",
    # what the project has and does
    r"(?P<fact>our (?:[\w/.-]+ ){1,4}?(?:only |still |always |just )?(?:has|have|runs?|uses?|supports?|expects?"
    r"|listens?|builds?|deploys?|needs?|requires?|ships?|speaks?|talks?|accepts?|allows?|pins?|caches?)\b .{2,})",
    r"(?P<fact>(?:port \d+ is (?:taken|used|reserved|blocked|occupied)\b.{3,}|(?:[^,;?]{3,60}(?:,| so"
    r"| because) )?(?:the|our) (?:[\w-]+ ){0,3}?(?:server|database|db|app|api|proxy|worker|ui|frontend|backend"
    r"|gateway|registry|broker|cache|queue|emulator|container) (?:runs|listens|lives|sits|is reachable|is served"
    r"|answers) (?:on|at|under|behind|in)\b.{2,}))",
    rf"(?P<fact>(?:the |our |all )?(?:[\w`./-]+ ){{0,3}}?{_PROCESS} (?:also )?(?:needs?|requires?|expects?|depends? on"
    rf"|relies on|rely on) (?:(?:a|an|the|to have|your|our|at least) )?(?:[\w.-]+ ){{0,3}}?{_RESOURCE}\b.*)",
    rf"(?P<fact>(?:[\w`./-]+ ){{0,3}}?{_PROCESS} only (?:works?|runs?|pass(?:es)?|starts?|builds?)"
    r" (?:with|on|when|if|after|in|under|behind|from)\b.{3,})",
    r"(?P<fact>(?:the |our |all |every )?(?:[\w`./-]+ ){0,3}?[\w-]+ (?:(?:is|are|gets?) (?:rotated|refreshed"
    r"|renewed|purged|deleted|backed up|synced|rebuilt|deployed|archived|reset|regenerated|restored|wiped|cleared"
    r"|restarted|retried|limited|capped)|expires?|rotates?|times? out)(?: (?:from|by|to"
    r"|in) [\w -]{2,40}?)? (?:every|after|once|nightly|daily|hourly|weekly|at|to)\b.{0,10}?(?:\d|nightly|daily"
    r"|hourly|weekly|a day|an hour|a week|midnight|night|hour|day).*)",
    rf"(?P<fact>(?:the|our|all) (?:[\w`./-]+ ){{0,3}}?{_PROCESS} only (?:works?|runs?|pass(?:es)?|starts?|builds?)"
    r" (?:with|on|when|if|after|in|under|behind|from)\b.{3,})",
    r"(?P<fact>(?:our [\w /-]{3,50}?|the [\w /-]{0,40}?(?:database|server|cluster|bucket|queue|topic|environment"
    r"|account|channel|domain|registry|branch|folder|service|package|module|app|repo|project|workspace"
    r"|namespace)) (?:is|are) (?:called|named|hosted|deployed|stored|located|managed"
    r"|owned|generated|built|served)\b.{3,})",
    r"(?P<fact>our [\w /-]{2,50}? (?:lives?|runs?|sits?|resides?|deploys?|goes|go|listens?|uses?) "
    r"(?:only )?(?:in|at|on|under|behind|to|via|through|with)\b.{3,})",
    r"(?P<decision>we(?:'ve| have)? (?:just )?(?:decided|agreed|settled|standardi[sz]ed|opted|chosen|chose|picked"
    r"|switched|moved|migrated|went with|dropped|replaced|ditched)\b(?! (?:it|this|that|them|to (?:do|try"
    r"|go with) (?:it|this|that))\b)"
    r".{3,}?\b(?:because|since|as|due to|so that|instead of|over|rather than|in favou?r of|away from)\b.{3,})",
    # what went wrong and why
    r"(?P<cause>we(?:'ve)? (?:have |had )?(?:already |once |previously )?tried\b.{3,}?(?:,|;| and| but|\."
    r"| -)? ?(?:it |that |we |which )?(?:abandon\w*|gave (?:it |that )?up|dropped|reverted|rolled (?:it )?back"
    r"|backed (?:it )?out|didn'?t work|did not work|doesn'?t work|never worked|failed|was too|turned out|(?:went"
    r"|switched|moved|returned|came) back).*?\b(?:because|since|as|due to|too|:)\b.{3,})",
    r"(?P<cause>(?:the )?(?:real |actual )?root cause (?:of|for|behind) .{3,60}? (?:was|were|is)\b.{4,})",
    r"(?P<cause>(?:the|our|last \w+'s) (?:[\w-]+ ){0,4}?(?:crash(?:es)?|bugs?|outages?|failures?|incidents?|leaks?"
    r"|deadlocks?|hangs?|timeouts?|flak(?:e|es|iness)|data loss|slowness|corruption) (?:was|were) (?:actually "
    r"|really )?(?:caused by|due to|because of|because)\b.{4,})",
    # what the agent got wrong
    rf"(?P<no>{_TURNED_DOWN})(?P<fact>(?:the|our|all|every) (?:[\w`./-]+ ){{0,3}}?{_PROCESS} (?:(?:also|only) )?"
    r"(?:needs?|requires?|expects?|depends? on|works? (?:with|on|when)|runs? (?:with|via|through|on|in)"
    r"|(?:is|are) (?:run|started|built|generated|deployed) (?:with|by|via|from|through))\b(?! to be\b).{4,})",
)  # fmt: skip
"""Forms of a sentence; the group is named after what the sentence is, and holds it."""
_FORMS = tuple(re.compile(LEAD + form, re.IGNORECASE) for form in _SOURCES)

_AT_HAND = re.compile(
    r"\b(?:this|that|these|those|the (?:above|current|same|last|previous|next|first|second|other)"
    r"|your) (?:\w+ )?(?:functions?|methods?|class(?:es)?|files?|tests?|case|branch|prs?|pull request|commits?"
    r"|change[sd]?|line|lines|loop|block|ticket|issue|one|ones|step|plan|task|session|time|section|page|dialog|button"
    r"|screen|message|bug|error|approach|option|part|thing|check|feature|fix|refactor\w*|migration|endpoint|comment"
    r"|version|point|query|module)\b|\b(?:just|right|for|not) now\b|\bnow\W*$|\b(?:today|tonight|tomorrow|yesterday|yet"
    r"|later|again|at the moment|for the moment|this (?:week|sprint|morning)|until (?:I|we|it)\b|before I|once I"
    r"|after I)\b",
    re.IGNORECASE,
)
"""Words that bind a sentence to what its speakers have before them."""
_IN_THIS = re.compile(
    r"\b(?:in|for|on|from|of|to|at|inside|within) (?:this|that) (?:\w+ )?(?:function|method|class|file|test|case|branch"
    r"|pr|pull request|commit|change|loop|block|ticket|issue|step|plan|task|session|section|page|dialog|endpoint)\b"
    r"|\b(?:commit|push|merge|finish|close|ship|submit|fix|change|do|start) (?:this|that|it)\b"
    r"|\b(?:right|for|not) now\b|\b(?:today|tonight|tomorrow|for the moment)\b",
    re.IGNORECASE,
)
"""The same where the form already asks for memory: only what cannot be meant to last."""
_DOUBT = re.compile(
    r"\b(?:can you|could you|is this|is that|is it|let me know|I think|I guess|maybe|perhaps|not sure|I wonder"
    r"|wondering|seems?|looks like|apparently|I believe|might|probably|as far as I|if I|what if|how (?:do|can|about))\b"
    r"|\?",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|crash\w*|errors? out|broken?|breaking|hangs?|leaks?|bugs?|wrong(?!,)|missing|null"
    r"|undefined|not work\w*|doesn't|didn't|isn't|wasn't|don't (?:get|see|have|know)|slow|stuck|red again|flaky|weird"
    r"|strange|supposed to|was|were|had|did|got|gets called|being called)\b",
    re.IGNORECASE,
)
"""Words of a report of what goes wrong, or of what happened."""
_REPORT = re.compile(
    r"\bwe (?:(?:always|never) )(?:\w+ed|got|get (?!rid)|had|have|did|saw|see|went|made|knew|thought|were|was|are|hit"
    r"|reach|return|call|set|pass|enter|close|end up|need(?:ed)?|seem)\b"
    r"|\bshould (?:never|not) have\b|\bmust (?:never|not|always) have\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"(?:(?:ok(?:ay)?|also|oh|and|btw)[\s,]+)*(?:heads[- ]up|fyi|for the record|for your information|just so you know"
    r"|careful|be careful|beware|psa|(?:as a )?reminder|good to know)[\s,:.!-]+(?:that )?(?P<rule>.{12,})",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"(?:I|you|he|she|they|someone|somebody|it)\b|we (?:just|have|had|will|did|were)\b|\w+ed\b|(?:the|my"
    r"|your) \w+ (?:was|were|has been)\b",
    re.IGNORECASE,
)
"""Beginnings of news of the day."""
_RELATIVE = re.compile(r"(?<=\ws) that\b")
"""A pronoun that leans on nothing but its own sentence: "tests that touch the network"."""
_CONSEQUENCE = re.compile(r",? (?:or (?:else )?(?:it|they|the)|otherwise|because|since|so)\b|; ", re.IGNORECASE)
"""Where a rule goes on to say what goes wrong without it."""
_QUESTION = re.compile(
    rf"{LEAD}(?:is|are|was|were|do|does|did|can|could|should|would|will|shall|why|how|what|where|when(?! (?:you|we)\b)"
    r"|which|who|whether)\b",
    re.IGNORECASE,
)


class StatedRule(NamedTuple):
    """What a sentence states beyond the task at hand."""

    text: str
    sort: FormSort


def stated_rule(sentence: str) -> StatedRule | None:
    """Return what the sentence lays down or tells of the project; None for anything else."""
    if _DOUBT.search(sentence) or _QUESTION.match(sentence):
        return None
    for form in _FORMS:
        match = form.match(sentence)
        if match is None or sentence[match.end() :].strip(" .!"):
            continue  # a rule is kept whole
        sort = cast("FormSort", match.lastgroup)
        rule = match[sort].strip().rstrip("!").strip()
        if sort == "cause":  # it tells of what failed, and two writers of "the same file" are not at hand
            return None if _AT_HAND.search(sentence.replace("the same ", "")) else StatedRule(rule, sort)
        claim = _CONSEQUENCE.split(rule)[0]
        is_report = _REPORT.search(claim) or (_FAULT.search(claim) and not bool(_ORDER.match(rule)))
        if _AT_HAND.search(sentence) or (is_report and sort != "decision"):
            return None
        return StatedRule(rule, sort) if stand_alone(_RELATIVE.sub(" which", rule)).text else None
    return None


def holds_beyond_the_task(sentence: str, rule: str) -> bool:
    """Return whether a sentence is no question, doubt or report, and points at nothing that its speakers look at."""
    claim = _CONSEQUENCE.split(rule)[0]
    if _DOUBT.search(sentence) or _QUESTION.match(sentence) or _AT_HAND.search(sentence) or _REPORT.search(claim):
        return False
    return (not _FAULT.search(claim) or bool(_ORDER.match(rule))) and bool(stand_alone(rule).text)


def announced(sentence: str) -> StatedRule | None:
    """Return what the sentence announces as worth knowing: "heads up, make deploy pushes straight to prod"."""
    match = _ANNOUNCED.match(sentence)
    rule = match["rule"].strip() if match else ""
    if not rule or _AT_HAND.search(rule) or _DOUBT.search(rule) or _FAULT.search(_CONSEQUENCE.split(rule)[0]):
        return None
    is_news = _NEWS.match(rule) or _QUESTION.match(rule)
    return StatedRule(rule, "fact") if not is_news and stand_alone(rule).text else None


def is_at_hand(sentence: str) -> bool:
    """Return whether a request to remember is about what its speakers have before them: in this function, for now."""
    return bool(_IN_THIS.search(sentence))


_ORDER = re.compile(
    r"(?:always|never|not ever|do not|don't|dont|we (?:don't|dont|do not)|stop|use|you|prefer|every|all|before|after"
    r"|for|if|ask|nobody|no one|I )\b",
    re.IGNORECASE,
)
