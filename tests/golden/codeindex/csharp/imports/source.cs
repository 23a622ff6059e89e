global using Acme.Shared;
using System;
using System.Collections.Generic;
using static System.Math;
using Lines = System.Collections.Generic.List<int>;
using Web = Acme.Web;

namespace Acme
{
    using Inner.Things;
}
